import { embeddedBinaries } from "../src/database/embedded.ts";
import { type PostgresServer, startPostgresServer } from "../src/database/postgres-server.ts";

/**
 * A PostgreSQL server of one's own, to stop (`stop("immediate")` is a crash) and start again on the same port. It ends
 * with the process at the latest; close it anyway. The embedded one, or the machine's own with POSTHASTE_TEST_PG=system
 * (Debian's folder; POSTHASTE_TEST_PG=/folder/of/its/bin for another).
 */
export async function startServer(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
  return startPostgresServer({
    binaries: await binaries(process.env.POSTHASTE_TEST_PG ?? "embedded"),
    // Without fsync a crash of the server loses nothing, only a crash of the machine does.
    settings: { fsync: "off", full_page_writes: "off", max_connections: "200", ...settings },
    announce: (line) => console.error(line),
  });
}

async function binaries(which: string): Promise<string> {
  if (which === "embedded") return embeddedBinaries();
  return which === "system" ? "/usr/lib/postgresql/15/bin" : which;
}

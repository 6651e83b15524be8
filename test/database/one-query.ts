import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";

/** One statement on a connection of its own, which may break at any time; its rows. */
// biome-ignore lint/suspicious/noExplicitAny: a test knows its columns.
export async function query(connectionString: string, text: string): Promise<any[]> {
  const client = new pg.Client({ connectionString });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Whether a server takes connections. */
export function accepts(connectionString: string): Promise<boolean> {
  return query(connectionString, "select 1").then(
    () => true,
    () => false,
  );
}

/** A folder that everybody can enter, or only its owner (0o700); removed after the test. */
export async function temporaryFolder(
  t: { after(callback: () => Promise<void>): void },
  mode = 0o755,
): Promise<string> {
  const outer = await mkdtemp(join(tmpdir(), "posthaste-test-"));
  t.after(() => rm(outer, { recursive: true, force: true }));
  const inner = join(outer, "inner");
  await mkdir(inner);
  await chmod(inner, mode);
  await chmod(outer, 0o755);
  return inner;
}

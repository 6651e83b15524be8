import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PosthasteError } from "../errors.ts";
import { give, identity, type ServerUser } from "./server-user.ts";

/** Where the parts of a PostgreSQL server of ours lie. */
export interface Place {
  /** What it runs as; null: as this process. */
  readonly user: ServerUser | null;
  /** Removed in the end, in any case. */
  readonly scratch: string;
  readonly binaries: string;
  readonly data: string;
  readonly log: string;
}

/** Makes the data folder with initdb where there is none yet. Returns the superuser's password, which is kept beside it. */
export async function initialiseData(place: Place, home: string): Promise<string> {
  const passwordFile = join(home, "password");
  const major = majorVersion(place);
  const found = await readFile(join(place.data, "PG_VERSION"), "utf8").catch(() => null);
  if (found !== null && Number(found) !== major) {
    throw new PosthasteError(
      `The folder ${home} holds data of PostgreSQL ${found.trim()}, and this is PostgreSQL ${major}. ` +
        "Remove the folder to begin anew, or dump and restore what you need of it.",
    );
  }
  if (found !== null) return (await readFile(passwordFile, "utf8")).trim();
  const password = randomBytes(18).toString("base64url");
  await writeFile(passwordFile, password, { mode: 0o600 });
  await give(place.user, passwordFile);
  // A death in the middle leaves only data.new behind: the folder `data` is whole or it is not there.
  const unfinished = `${place.data}.new`;
  await rm(unfinished, { recursive: true, force: true });
  const locale =
    major >= 17
      ? ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
      : ["--locale=C.UTF-8"];
  // The password is asked for in the clear because only 127.0.0.1 is listened on, and it spares each connection SCRAM's work.
  const flags = ["--no-sync", "--username=postgres", "--auth=password", "--encoding=UTF8", ...locale];
  const result = spawnSync(
    join(place.binaries, "initdb"),
    [...flags, `--pwfile=${passwordFile}`, `--pgdata=${unfinished}`],
    { ...identity(place.user), encoding: "utf8" },
  );
  if (result.status !== 0) {
    throw new PosthasteError(
      `initdb failed in ${home}: ${result.error?.message ?? result.stderr.trim().slice(-1000)}`,
    );
  }
  await writeFile(join(unfinished, "postgresql.conf"), "\ninclude 'posthaste.conf'\n", { flag: "a" });
  await rename(unfinished, place.data);
  return password;
}

function majorVersion(place: Place): number {
  const result = spawnSync(join(place.binaries, "postgres"), ["--version"], {
    ...identity(place.user),
    encoding: "utf8",
  });
  const major = /\(PostgreSQL\) (\d+)/.exec(result.stdout ?? "")?.[1];
  if (major) return Number(major);
  throw new PosthasteError(
    `${join(place.binaries, "postgres")} cannot be run: ${result.error?.message ?? result.stderr.trim()}. ` +
      "Install its package again, with its install scripts allowed.",
  );
}

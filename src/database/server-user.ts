import { spawnSync } from "node:child_process";
import { chown } from "node:fs/promises";
import { PosthasteError } from "../errors.ts";

/** The system user that a PostgreSQL server of ours runs as. */
export interface ServerUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * PostgreSQL refuses to run as root. So root gets the system user `postgres`, which is made when there is none
 * (and announced); everybody else runs it as themselves: null.
 */
export function serverUser(announce: (line: string) => void): ServerUser | null {
  if (process.getuid?.() !== 0) return null;
  const existing = lookUp("postgres");
  if (existing) return existing;
  announce("PostgreSQL does not run as root: adding the system user `postgres` for it.");
  const added = spawnSync("useradd", ["--system", "--user-group", "--no-create-home", "postgres"]);
  const user = lookUp("postgres");
  if (user) return user;
  throw new PosthasteError(
    "PostgreSQL does not run as root and the system user `postgres` could not be added " +
      `(useradd: ${added.error?.message ?? (String(added.stderr).trim() || `exit ${added.status}`)}). ` +
      "Add it yourself, run as another user, or set DATABASE_URL to a server that is there.",
  );
}

/** Whether the server's user can enter a folder: each folder above it counts too, so `/root/x` is usually out of reach. */
export function canEnter(user: ServerUser | null, folder: string): boolean {
  return (
    spawnSync("/bin/sh", ["-c", 'cd "$1"', "sh", folder], { ...identity(user), stdio: "ignore" }).status === 0
  );
}

/** For spawn: the user, and a folder that it may be in. */
export function identity(user: ServerUser | null): { uid?: number; gid?: number; cwd: string } {
  return user ? { uid: user.uid, gid: user.gid, cwd: "/" } : { cwd: "/" };
}

/** Makes the user the owner of a file or folder. */
export async function give(user: ServerUser | null, path: string): Promise<void> {
  if (user) await chown(path, user.uid, user.gid);
}

function lookUp(name: string): ServerUser | null {
  const [uid, gid] = ["-u", "-g"].map((flag) => {
    const result = spawnSync("id", [flag, name], { encoding: "utf8" });
    return result.status === 0 ? Number.parseInt(result.stdout, 10) : Number.NaN;
  });
  return uid === undefined || gid === undefined || Number.isNaN(uid) || Number.isNaN(gid)
    ? null
    : { name, uid, gid };
}

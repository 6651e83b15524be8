import { readdirSync, readFileSync } from "node:fs";
import type pg from "pg";

/** The kernel counts in hundredths of a second. */
const TICK = 10;

/** A way to ask for the milliseconds of processor time that a server has used with all its processes; null where there is no /proc. */
export async function postgresProcessorTime(database: pg.Pool): Promise<() => number | null> {
  const { rows } = await database.query<{ pid: number }>("select pg_backend_pid() as pid");
  const postmaster = readProcess(rows[0]?.pid)?.parent;
  if (postmaster === undefined) return () => null;
  return () => {
    const children = readdirSync("/proc")
      .map((name) => readProcess(Number(name)))
      .filter((one) => one?.parent === postmaster);
    return children.reduce(
      (sum, one) => sum + (one?.own ?? 0),
      readProcess(postmaster)?.ofEndedChildren ?? 0,
    );
  };
}

function readProcess(pid: number | undefined) {
  try {
    // After the name, which is in parentheses and may hold anything; see proc(5).
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")
      .map(Number);
    const [, parent, , , , , , , , , , user, system, childrenUser, childrenSystem] = fields;
    return {
      parent: parent as number,
      own: ((user ?? 0) + (system ?? 0)) * TICK,
      ofEndedChildren: ((childrenUser ?? 0) + (childrenSystem ?? 0)) * TICK,
    };
  } catch {
    return null;
  }
}

import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PosthasteError } from "../../errors.ts";

/**
 * Notes that this process runs `dev` in the folder. Returns what takes the note back.
 * @param home folder of what `dev` keeps
 * @throws PosthasteError when another process runs there
 */
export function claimFolder(home: string): () => Promise<void> {
  const file = join(home, "dev.pid");
  const other = runningPid(file);
  if (other !== null) {
    throw new PosthasteError(
      `posthaste dev already runs here (PID ${other}): use that one, or stop it first.`,
    );
  }
  writeFileSync(file, `${process.pid}\n`);
  return async () => {
    if (readPid(file) === process.pid) rmSync(file, { force: true });
  };
}

/** The process of the note, when it still runs and is a `dev`: a number may belong to another one by now. */
function runningPid(file: string): number | null {
  const pid = readPid(file);
  if (pid === null || pid === process.pid) return null;
  try {
    const args = execFileSync("ps", ["-o", "args=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return /\bdev\b/.test(args) ? pid : null;
  } catch {
    // No such process, or no ps: then PostgreSQL's own lock is what tells.
    return null;
  }
}

function readPid(file: string): number | null {
  try {
    return Number(/^\d+$/m.exec(readFileSync(file, "utf8"))?.[0] ?? Number.NaN) || null;
  } catch {
    return null;
  }
}

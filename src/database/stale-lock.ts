import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Lets a data folder be started again whose server was killed. PostgreSQL takes the lock file for valid when any process
 * has its number: after a restart of the machine that may be another program's, and in a container whose first process
 * does not collect its dead children it is the dead server itself. So the process is looked at.
 *
 * The file is not removed: its other lines let PostgreSQL see whether children of the dead server still write.
 */
export async function forgetDeadServer(data: string): Promise<void> {
  const file = join(data, "postmaster.pid");
  const lock = await readFile(file, "utf8").catch(() => null);
  if (lock === null) return;
  const [pid = "", ...rest] = lock.split("\n");
  if ((await commandLine(pid)).includes(data)) return;
  await writeFile(file, [NOBODY, ...rest].join("\n"));
}

/** Beyond the largest process number of any system. */
const NOBODY = "2147483646";

/** Empty for a process that is dead, collected or not. */
async function commandLine(pid: string): Promise<string> {
  if (process.platform === "linux") return readFile(`/proc/${Number(pid)}/cmdline`, "utf8").catch(() => "");
  return spawnSync("ps", ["-o", "command=", "-p", pid], { encoding: "utf8" }).stdout ?? "";
}

import { fork } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Bundle } from "./bundle.ts";
import { ENDS_PROCESS, IMPORT_TIMEOUT, NEVER_ENDS } from "./import.ts";

/**
 * Runs compiled templates in another process, to find those that would block this one for ever, or end it.
 * @param folder for the modules
 * @returns what they do, by name; a module that throws is none of them
 */
export async function tryBundles(
  bundles: ReadonlyMap<string, Bundle>,
  folder: string,
): Promise<ReadonlyMap<string, string>> {
  const harmful = new Map<string, string>();
  const left: Module[] = [];
  for (const [name, { code }] of bundles) {
    const path = join(folder, `trial-${left.length}.mjs`);
    await writeFile(path, code);
    left.push({ name, path });
  }
  while (left[0]) {
    const reason = await runUntilHarm(left);
    const [{ name }] = left.splice(0, 1) as [Module];
    if (reason !== null) harmful.set(name, reason);
  }
  return harmful;
}

interface Module {
  readonly name: string;
  readonly path: string;
}

/** Takes from the list what has run, and says what the first one that is left does to its process; null: nothing, it was the last. */
function runUntilHarm(left: Module[]): Promise<string | null> {
  const main = `trial-process${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`;
  const child = fork(join(import.meta.dirname, main), {
    // The guard's reasons are of no interest.
    stdio: ["ignore", "ignore", "ignore", "ipc", "ignore"],
  });
  return new Promise((resolve, reject) => {
    let reason: string | null = ENDS_PROCESS;
    const end = (why: string | null): void => {
      reason = why;
      child.kill("SIGKILL");
    };
    let timer = setTimeout(end, IMPORT_TIMEOUT, NEVER_ENDS);
    child.on("message", () => {
      clearTimeout(timer);
      if (left.length === 1) return end(null);
      left.shift();
      timer = setTimeout(end, IMPORT_TIMEOUT, NEVER_ENDS);
    });
    child.once("error", reject);
    child.once("close", () => {
      clearTimeout(timer);
      resolve(reason);
    });
    child.send(left.map(({ path }) => path));
  });
}

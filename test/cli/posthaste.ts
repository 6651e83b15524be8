import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { bareEnvironment } from "../bare-environment.ts";

const MAIN = join(import.meta.dirname, "../../src/cli/main.ts");

/** What a run of the command line left behind. */
export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line as a process of its own, in `directory`, with nothing of ours in its environment. */
export function posthaste(
  directory: string,
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<Run> {
  const child = spawn(process.execPath, ["--conditions=posthaste-source", MAIN, ...args], {
    cwd: directory,
    env: { ...bareEnvironment, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const run = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk: string) => {
      run[name] += chunk;
    });
  }
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...run }));
  });
}

/** A folder outside any install that holds the given files; removed after the test. */
export function folder(t: TestContext, files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), "posthaste-cli-"));
  // A database whose `posthaste dev` was killed may still write while it stops.
  t.after(() => rmSync(directory, { recursive: true, maxRetries: 10, retryDelay: 100 }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  return directory;
}

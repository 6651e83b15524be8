import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { bareEnvironment } from "../bare-environment.ts";
import { folder } from "./posthaste.ts";

const MAIN = join(import.meta.dirname, "../../src/cli/main.ts");

/** A command of Posthaste's that runs until it is stopped. */
export interface Running {
  readonly child: ChildProcess;
  /** What it has said so far, on both streams. */
  readonly output: string;
  /** Resolves when it has said so; rejects when it ends without. */
  said(pattern: RegExp): Promise<RegExpExecArray>;
  /** Exit code or signal, when it has ended and its streams are closed. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/** Starts a command as a process of its own; it is killed after the test at the latest. */
export function start(
  t: TestContext,
  directory: string,
  args: readonly string[],
  environment: Record<string, string>,
): Running {
  const child = spawn(process.execPath, ["--conditions=posthaste-source", MAIN, ...args], {
    cwd: directory,
    env: { ...bareEnvironment, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  let output = "";
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      for (const look of waiting) look();
    });
  }
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal));
  });
  return {
    child,
    ended,
    get output() {
      return output;
    },
    said: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(output);
          if (!found) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
        void ended.then(() => reject(new Error(`It ended without saying ${pattern}:\n${output}`)));
      }),
  };
}

/** A folder for temporary files that PostgreSQL's system user can use as well. */
export function temporaryFolder(t: TestContext): string {
  const home = folder(t, {});
  chmodSync(home, 0o755);
  const directory = join(home, "tmp");
  mkdirSync(directory);
  chmodSync(directory, 0o777);
  return directory;
}

/** Command lines of the running processes that name this word. */
export function processesWith(word: string): string[] {
  const lines = execFileSync("ps", ["-A", "-o", "args="], { encoding: "utf8" }).split("\n");
  return lines.filter((line) => line.includes(word));
}

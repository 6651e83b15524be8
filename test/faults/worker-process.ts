import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import type { PosthasteOptions } from "../../src/index.ts";
import { bareEnvironment } from "../bare-environment.ts";
import { eventually } from "./eventually.ts";
import { createLogLines, type LogLines } from "./log-lines.ts";

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A worker that can be killed. */
export interface WorkerProcess {
  readonly pid: number;
  readonly log: LogLines;
  readonly exited: Promise<Exit>;
  kill(signal: NodeJS.Signals): void;
  /** When it has sent itself a SIGSTOP, or was sent one, and the system has stopped it. */
  stopped(): Promise<void>;
  /** SIGKILL; resolves when it is gone. */
  end(): Promise<void>;
}

/** What a worker process is started with. */
export interface WorkerProcessOptions {
  readonly connectionString: string;
  readonly options: PosthasteOptions;
  /** A point of src/worker/crash-point.ts, with `:stop` to be stopped there instead of killed. */
  readonly crashAt?: string | undefined;
  /** More variables of its environment. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/** Starts a worker process. It sends mail when its log says `worker_started`. */
export function spawnWorker({
  connectionString,
  options,
  crashAt,
  environment,
}: WorkerProcessOptions): WorkerProcess {
  const child = spawn(
    process.execPath,
    ["--conditions=posthaste-source", join(import.meta.dirname, "worker-main.ts")],
    {
      env: {
        ...bareEnvironment,
        NODE_ENV: "production",
        ...environment,
        POSTHASTE_TEST_WORKER: JSON.stringify({ connectionString, options }),
        ...(crashAt === undefined ? {} : { POSTHASTE_CRASH_AT: crashAt }),
      },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  return watchWorker(child);
}

/** A worker that was just started with a pipe for its log. */
export function watchWorker(child: ChildProcess): WorkerProcess {
  const log = createLogLines();
  child.stderr?.setEncoding("utf8").on("data", log.write);
  const exited = once(child, "close").then(([code, signal]): Exit => {
    log.end(`ended (${code ?? signal})`);
    return { code, signal };
  });
  const pid = child.pid as number;
  return {
    pid,
    log,
    exited,
    kill: (signal) => void child.kill(signal),
    stopped: () => eventually(`process ${pid} is stopped`, () => isStopped(pid)).then(() => undefined),
    async end() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** The state of a process, as the system shows it. */
async function isStopped(pid: number): Promise<boolean> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "stat=", "-p", String(pid)]);
  return stdout.startsWith("T");
}

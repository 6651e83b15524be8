import { type ChildProcess, fork } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";

/** A process of the benchmark. */
export interface Process {
  /** Asks it for something and waits for the answer. */
  ask<Answer>(question: string, input?: unknown): Promise<Answer>;
  /** What it has used since it was started. */
  usage(): Promise<Usage>;
  /** Ends it and waits for its end. */
  stop(): Promise<void>;
}

/** Milliseconds. */
export interface Usage {
  /** Processor time. */
  readonly processor: number;
  /** Time in which its event loop had something to do. */
  readonly busy: number;
}

/** What a process answers to. */
export type Answers = Readonly<Record<string, (input: never) => unknown>>;

interface Message {
  readonly number: number;
  readonly question: string;
  readonly input: unknown;
  readonly answer: unknown;
  readonly error?: string;
}

/** Milliseconds by a clock that all processes of a machine share. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * Starts a file of this folder as a process of its own, under the conditions of production. What it writes to stderr
 * goes to a file in `scratch`, as logs do.
 */
export async function startProcess(
  file: string,
  options: { scratch: string; environment?: Readonly<Record<string, string>>; execArgv?: readonly string[] },
): Promise<Process> {
  const logFile = join(options.scratch, `${file}.log`);
  const log = openSync(logFile, "w");
  const child = fork(join(import.meta.dirname, file), {
    stdio: ["ignore", log, log, "ipc"],
    env: { ...process.env, NODE_ENV: "production", ...options.environment },
    execArgv: [...process.execArgv, ...(options.execArgv ?? [])],
  });
  closeSync(log);
  const { ask, ended } = questions(
    child,
    () => `${file} ended:\n${readFileSync(logFile, "utf8").slice(-2000)}`,
  );
  await ask("ready");
  return {
    ask,
    usage: () => ask<Usage>("usage"),
    async stop() {
      await ask("stop").catch(() => undefined);
      child.disconnect();
      await ended;
    },
  };
}

function questions(child: ChildProcess, why: () => string) {
  const waiting = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>();
  let last = 0;
  child.on("message", ({ number, answer, error }: Message) => {
    const asked = waiting.get(number);
    waiting.delete(number);
    if (error === undefined) asked?.resolve(answer);
    else asked?.reject(new Error(error));
  });
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => {
      for (const { reject } of waiting.values()) reject(new Error(why()));
      resolve();
    });
  });
  const ask = <Answer>(question: string, input?: unknown) =>
    new Promise<Answer>((resolve, reject) => {
      const number = ++last;
      waiting.set(number, { resolve: resolve as (answer: unknown) => void, reject });
      child.send({ number, question, input });
    });
  return { ask, ended };
}

/** The process's side: answers questions until it is to stop. */
export function answerQuestions(answers: Answers): void {
  const all: Answers = {
    ready: () => true,
    stop: () => true,
    usage: (): Usage => {
      const { user, system } = process.cpuUsage();
      return { processor: (user + system) / 1000, busy: performance.eventLoopUtilization().active };
    },
    ...answers,
  };
  process.on("message", async ({ number, question, input }: Message) => {
    try {
      process.send?.({ number, answer: await all[question]?.(input as never) });
    } catch (error) {
      process.send?.({ number, error: error instanceof Error ? error.stack : String(error) });
    }
  });
}

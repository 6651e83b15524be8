import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { createInterface } from "node:readline";

/** What the watchdog of a PostgreSQL server needs to know. */
export interface WatchdogOptions {
  readonly binaries: string;
  readonly data: string;
  readonly log: string;
  /** Removed in the end. */
  readonly scratch: string;
  /** The system user that everything runs as, and a folder that it may be in. */
  readonly identity: { readonly uid?: number; readonly gid?: number; readonly cwd: string };
}

/** Starts and stops one PostgreSQL server. */
export interface Watchdog {
  /** The reply is `started`, `stopped` or `failed`. */
  ask(command: "start" | "fast" | "immediate"): Promise<string>;
  /** Stops the server if it runs, removes the scratch folder and ends. */
  close(): Promise<void>;
}

/**
 * The server must not outlive this process, however it ends. So it is started by a shell of its own session that reads
 * commands from a pipe: when this process is gone, by exit, by a signal or by SIGKILL, the pipe ends, and the shell stops
 * the server and removes the scratch folder. No signal handler is needed here, so nobody's own handling is disturbed.
 * When the shell is killed as well (power cut, end of the container), the next start in a kept folder recovers.
 */
export function startWatchdog(options: WatchdogOptions): Watchdog {
  const { binaries, data, log, scratch, identity } = options;
  const shell = spawn("/bin/sh", ["-c", SCRIPT, "posthaste-postgres", binaries, data, log, scratch], {
    ...identity,
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const input = shell.stdin as Socket;
  const output = shell.stdout as Socket;
  // A shell that died has closed its end: the next reply is then `failed`.
  input.on("error", () => undefined);
  const ended = new Promise<void>((resolve) => {
    shell.once("exit", () => resolve());
    shell.once("error", () => resolve());
  });
  const replies = createInterface({ input: output })[Symbol.asyncIterator]();
  const hold = (on: boolean) => {
    for (const handle of [shell, input, output]) on ? handle.ref() : handle.unref();
  };
  hold(false);

  return {
    async ask(command) {
      hold(true);
      input.write(`${command}\n`);
      const reply = await replies.next();
      hold(false);
      return reply.done ? "failed" : reply.value;
    },
    async close() {
      hold(true);
      input.end();
      await ended;
      // The shell cannot remove the folder itself where the server's user may not write into its parent.
      await rm(scratch, { recursive: true, force: true });
    },
  };
}

// $1 binaries, $2 data, $3 log, $4 scratch. Only what was started here is stopped here: with a kept folder, the server
// that is found running may be another process's.
const SCRIPT = `
trap '' HUP INT TERM
running=no
stop() {
  [ $running = yes ] || return
  "$bin/pg_ctl" stop -w -t 30 -m "$1" -D "$data" || "$bin/pg_ctl" stop -w -t 30 -m immediate -D "$data"
  running=no
}
bin=$1 data=$2 log=$3 scratch=$4
while read -r command; do
  case $command in
    start) if "$bin/pg_ctl" start -w -t 60 -D "$data" -l "$log"; then running=yes reply=started; else reply=failed; fi ;;
    *) stop "$command"; reply=stopped ;;
  esac >/dev/null 2>&1 </dev/null
  echo "$reply"
done
stop fast >/dev/null 2>&1
rm -rf "$scratch"
`;

import { EventEmitter, once } from "node:events";
import type { EventName } from "../../src/log-events.ts";

/** One line of a worker's log. */
export interface LogLine {
  readonly event: EventName;
  readonly level: string;
  readonly id?: string;
  readonly code?: string | null;
  readonly [field: string]: unknown;
}

/** What a worker has logged so far, and what it will. */
export interface LogLines {
  readonly lines: readonly LogLine[];
  /** Everything that was written, also what is not of the log. */
  readonly text: string;
  write(chunk: string): void;
  /** No more lines come: whoever still waits for one is told `why`. */
  end(why: string): void;
  /** The first line of this kind, or the first for which `accept` says yes; at most 30 s are waited for. */
  line(event: EventName, accept?: (line: LogLine) => boolean): Promise<LogLine>;
}

export function createLogLines(): LogLines {
  const events = new EventEmitter().setMaxListeners(0);
  const lines: LogLine[] = [];
  let text = "";
  let rest = "";
  let ended: string | null = null;
  return {
    lines,
    get text() {
      return text;
    },
    write(chunk) {
      text += chunk;
      const parts = (rest + chunk).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts.filter((each) => each.startsWith("{"))) lines.push(JSON.parse(part));
      events.emit("change");
    },
    end(why) {
      ended = why;
      events.emit("change");
    },
    async line(event, accept = () => true) {
      const patience = AbortSignal.timeout(30_000);
      for (;;) {
        const found = lines.find((line) => line.event === event && accept(line));
        if (found) return found;
        if (ended !== null)
          throw new Error(`No line ${event} came before the worker ${ended}:\n${text.slice(-3000)}`);
        await once(events, "change", { signal: patience }).catch(() => {
          throw new Error(`Waited in vain for a line ${event}:\n${text.slice(-3000)}`);
        });
      }
    },
  };
}

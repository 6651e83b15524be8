/** Where a test may end this process, to show that no mail is lost or sent twice there. In the order of one send. */
export type CrashPoint =
  | "after_claim"
  | "before_send"
  | "before_hand_over"
  | "after_hand_over"
  | "after_reply"
  | "after_record";

const [chosen, how] = (process.env.POSTHASTE_CRASH_AT ?? "").split(":");

/**
 * Does nothing, but for POSTHASTE_CRASH_AT: with the name of this point the process kills itself here, with `:stop` after
 * the name it stops until somebody sends it SIGCONT. Nothing else in this process runs in between.
 */
export function reached(point: CrashPoint): void {
  if (point === chosen) process.kill(process.pid, how === "stop" ? "SIGSTOP" : "SIGKILL");
}

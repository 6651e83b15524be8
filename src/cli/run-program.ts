import "./prepare.ts";
import { createProgram } from "./program.ts";
import { reportError } from "./report-error.ts";

/** Runs the command of this process's arguments. Errors are told on stderr, and become the exit code. */
export async function runProgram(): Promise<void> {
  // `posthaste list | head` closes the pipe early: that is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    process.exit(error.code === "EPIPE" ? 0 : 1);
  });
  try {
    await createProgram().parseAsync();
  } catch (error) {
    process.exitCode = reportError(error);
  }
}

import { after } from "node:test";
import { isMainThread } from "node:worker_threads";

/** Milliseconds that a file's process may live on when its tests are over. */
const GRACE = 30_000;
/** Milliseconds that it may take in all. */
const LIMIT = 600_000;

// Node limits the time of a test, not that of its hooks and of what it leaves behind: a socket or a timer would keep its
// file's process, and with it the run, for ever. The run fails instead, and says what is left.
if (process.env.NODE_TEST_CONTEXT && isMainThread) {
  setTimeout(end, LIMIT, "did not come to their end").unref();
  after(() => void setTimeout(end, GRACE, "left something behind").unref());
}

function end(what: string): void {
  process.stderr.write(
    `The tests of ${process.argv[1]} ${what}: ${process.getActiveResourcesInfo().join(", ")}.\n`,
  );
  process.exit(1);
}

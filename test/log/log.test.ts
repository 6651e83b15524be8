import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { PosthasteError } from "../../src/errors.ts";
import { createLog, describeError, type LogOptions } from "../../src/log.ts";

function capture(options: LogOptions) {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { log: createLog({ stream, ...options }), lines };
}

test("a line is one JSON document when nobody watches", () => {
  const { log, lines } = capture({});
  log("email_retried", { id: "1", code: "message_deferred", attempts: 2, next: new Date(0) });
  const { time, ...line } = JSON.parse(lines.join(""));
  assert.ok(Date.parse(time) > 0);
  assert.deepEqual(line, {
    level: "warn",
    event: "email_retried",
    text: "Not sent; will be tried again.",
    id: "1",
    code: "message_deferred",
    attempts: 2,
    next: "1970-01-01T00:00:00.000Z",
  });
});

test("a line is text for a person, without the fields that are empty", () => {
  const { log, lines } = capture({ format: "text" });
  log("email_failed", { id: "1", key: null, code: "expired" });
  assert.match(
    lines.join(""),
    /^\d\d:\d\d:\d\d\.\d{3} ERROR email_failed {5}Failed for good\. id=1 code=expired\n$/,
  );
});

test("what may happen for each mail while the database is down is said at most once a second", () => {
  let now = 0;
  const { log, lines } = capture({ now: () => now });
  for (let i = 0; i < 10; i += 1) log("claim_failed");
  log("renewal_failed");
  log("email_sent", { id: "1" });
  log("email_sent", { id: "2" });
  now = 1000;
  log("claim_failed");
  const events = lines.map((line) => JSON.parse(line)).map(({ event, suppressed }) => [event, suppressed]);
  assert.deepEqual(events, [
    ["claim_failed", undefined],
    ["renewal_failed", undefined],
    ["email_sent", undefined],
    ["email_sent", undefined],
    ["claim_failed", 9],
  ]);
});

test("debug lines appear only when they are asked for", () => {
  const quiet = capture({ debug: false });
  const chatty = capture({ debug: true });
  for (const { log } of [quiet, chatty]) log("maintenance_done", { count: 1 });
  assert.deepEqual([quiet.lines.length, chatty.lines.length], [0, 1]);
});

test("an error is described by kind and place, and its message only when it cannot quote data", () => {
  const database = Object.assign(new Error("Key (to)=(anna@example.com) already exists"), { code: "23505" });
  assert.match(describeError(database), /^Error 23505 at log\.test\.ts:\d+$/);
  const system = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), {
    code: "ECONNREFUSED",
    syscall: "connect",
  });
  assert.equal(describeError(system), "Error ECONNREFUSED connect ECONNREFUSED 127.0.0.1:5432");
  assert.equal(describeError(new PosthasteError("Set it.")), "PosthasteError Set it.");
  assert.equal(describeError("anna@example.com"), "thrown string");
});

test("a mail that may have been sent twice is a warning, whatever else it is", () => {
  const { log, lines } = capture({});
  log("email_sent", { id: "1", possibleDuplicate: true });
  log("email_sent", { id: "2" });
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).level),
    ["warn", "info"],
  );
});

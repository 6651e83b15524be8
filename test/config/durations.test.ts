import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDuration, parseDuration } from "../../src/configuration/durations.ts";

test("a duration is a number with a unit, or milliseconds as a number", () => {
  const cases = {
    "500ms": 500,
    "10s": 10_000,
    "2m": 120_000,
    "1h": 3_600_000,
    "5d": 432_000_000,
    "1.5h": 5_400_000,
  };
  for (const [text, milliseconds] of Object.entries(cases))
    assert.equal(parseDuration(text), milliseconds, text);
  assert.equal(parseDuration(250), 250);
});

test("anything else is not a duration", () => {
  for (const value of [
    "",
    "10",
    "s",
    "-1s",
    "10 minutes",
    "1h30m",
    "1e3s",
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    null,
    {},
  ]) {
    assert.equal(parseDuration(value), null, String(value));
  }
});

test("a duration is written in the largest unit that divides it", () => {
  assert.deepEqual([120_000, 1500, 86_400_000, 0, 90_000].map(formatDuration), [
    "2m",
    "1500ms",
    "1d",
    "0ms",
    "90s",
  ]);
});

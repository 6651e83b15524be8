import assert from "node:assert/strict";
import { test } from "node:test";
import { validateConfiguration } from "../../src/configuration/validate.ts";

const DAY = 86_400_000;

function validate(retention: unknown) {
  return validateConfiguration({ options: { retention }, environment: {}, sends: false, directory: "/app" });
}

test("mail stays for the documented time unless the configuration says otherwise", () => {
  assert.deepEqual(validate(undefined).config.retention, {
    sent: 90 * DAY,
    failed: 180 * DAY,
    cancelled: 30 * DAY,
    mode: "delete",
    keys: 90 * DAY,
    budget: DAY / 24,
  });
  const chosen = { sent: "7d", failed: null, cancelled: "1h", mode: "archive", keys: 0, budget: "10m" };
  assert.deepEqual(validate(chosen), {
    config: {
      ...validate(undefined).config,
      retention: {
        sent: 7 * DAY,
        failed: null,
        cancelled: DAY / 24,
        mode: "archive",
        keys: 0,
        budget: 600_000,
      },
    },
    problems: [],
  });
});

test("an age below an hour, another mode and a misspelt state are refused with their rules", () => {
  assert.deepEqual(
    validate({ sent: "10m", failed: "never", mode: "drop", keys: null, budget: 0, send: "1d" }).problems,
    [
      'posthaste.retention.sent must be a duration of at least 1h, such as "10s", "2m", "1h", "5d" or a number of milliseconds, or null to keep it for ever; received "10m".',
      'posthaste.retention.failed must be a duration of at least 1h, such as "10s", "2m", "1h", "5d" or a number of milliseconds, or null to keep it for ever; received "never".',
      'posthaste.retention.mode must be "delete" or "archive"; received "drop".',
      'posthaste.retention.keys must be a duration of at least 0ms, such as "10s", "2m", "1h", "5d" or a number of milliseconds; received null.',
      'posthaste.retention.budget must be a duration from 1s to 23h, such as "10s", "2m", "1h", "5d" or a number of milliseconds; received 0.',
      'posthaste.retention.send is not an option; did you mean "sent"?',
    ],
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { future, past } from "../../src/cli/option-values.ts";
import { oneLine, printable, printableJson } from "../../src/cli/printable.ts";
import { table } from "../../src/cli/table.ts";
import { since, span, when } from "../../src/cli/when.ts";

const HOSTILE = "ok\x1b[31m\x9b2J\x07\u202ereversed\u2066\x7f";

test("what a terminal would obey or reorder is gone from text, and escaped in JSON", () => {
  assert.equal(printable(HOSTILE), "ok [31m 2J  reversed  ");
  assert.equal(printable("one\ntwo\r\n"), "one\ntwo \n");
  assert.equal(oneLine(" one\r\n\ttwo\u2028three "), "one two three");
  const json = printableJson({ text: HOSTILE });
  assert.doesNotMatch(json, /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
  assert.deepEqual(JSON.parse(json), { text: HOSTILE });
});

test("a cell cannot break out of its line, and columns stand under each other", () => {
  assert.equal(
    table([
      ["A", "B", "C"],
      ["x\ny", "", "1"],
      ["ü𝒳", "long", ""],
    ]),
    "A    B     C\nx y        1\nü𝒳   long",
  );
});

test("a time is told absolutely and relatively", () => {
  const now = Date.parse("2026-08-01T22:14:03Z");
  const zoned = /^\d{4}-\d\d-\d\d \d\d:\d\d:03(Z|[+-]\d\d:\d\d)/;
  assert.match(when(new Date(now - 180_000), now), new RegExp(`${zoned.source} \\(3 min ago\\)$`));
  assert.match(when("2026-08-01T22:15:03Z", now), / \(in 60 s\)$/);
  assert.match(when(new Date(now), now), / \(now\)$/);
  assert.match(since(new Date(now - 7_200_000), now), /^since 2 h \(\d{4}-/);
  assert.deepEqual([80, 45_000, 720_000, 25_200_000, 259_200_000].map(span), [
    "80 ms",
    "45 s",
    "12 min",
    "7 h",
    "3 days",
  ]);
  const [text = ""] = when(new Date(now), now).split(" (");
  assert.equal(Date.parse(text.replace(" ", "T")), now);
});

test("a time is given as a duration, a date or a date with a time", () => {
  const near = (text: string, expected: number) =>
    assert.ok(Math.abs(Date.parse(text) - expected) < 5_000, text);
  near(past("2h"), Date.now() - 7_200_000);
  near(future("1.5h"), Date.now() + 5_400_000);
  assert.equal(past("2026-01-31"), new Date(2026, 0, 31).toISOString());
  assert.equal(past("2026-01-31 18:00"), new Date(2026, 0, 31, 18).toISOString());
  assert.equal(future("2026-01-31T18:00:30Z"), "2026-01-31T18:00:30.000Z");
  assert.equal(future("2026-01-31T18:00+02:00"), "2026-01-31T16:00:00.000Z");
  for (const wrong of [
    "",
    "yesterday",
    "2026-02-29",
    "2026-13-01",
    "2026-01-31T25:00",
    "-2h",
    "2026",
    "31.01.2026",
  ]) {
    assert.throws(() => past(wrong), /duration such as/, wrong);
  }
});

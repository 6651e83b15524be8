import assert from "node:assert/strict";
import { test } from "node:test";
import { validateConfiguration } from "../../src/configuration/validate.ts";

function validate(options: unknown) {
  return validateConfiguration({ options, directory: "/srv/shop", environment: {}, sends: false });
}

test("a store is a folder, relative to the configuration file; without any there is the table alone", () => {
  const { config, problems } = validate({
    stores: { invoices: { folder: "./invoices" }, "tax-2026": { folder: "/mnt/tax/files" } },
  });
  assert.deepEqual(problems, []);
  assert.deepEqual(
    [...config.stores],
    [
      ["invoices", { folder: "/srv/shop/invoices" }],
      ["tax-2026", { folder: "/mnt/tax/files" }],
    ],
  );
  assert.equal(validate({}).config.stores.size, 0);
});

test("a store needs a name that a storage_ref can have, and a folder", () => {
  const { problems } = validate({
    stores: {
      files: { folder: "x" },
      "In voices": { folder: "x" },
      a: {},
      b: { folder: 1 },
      c: { folders: "x" },
    },
  });
  const expected = [
    /^posthaste\.stores\.b\.folder must be text/,
    /^posthaste\.stores\.files is the table posthaste\.files and always there; give this store another name\.$/,
    /^posthaste\.stores: a name must be a letter.*received "In voices"\.$/,
    /^posthaste\.stores\.a\.folder is missing/,
    /^posthaste\.stores\.c\.folder is missing/,
    /^posthaste\.stores\.c\.folders is not an option; did you mean "folder"\?$/,
  ];
  assert.equal(problems.length, expected.length, problems.join("\n"));
  for (const pattern of expected)
    assert.ok(
      problems.some((line) => pattern.test(line)),
      String(pattern),
    );
});

test("maxMessageSize is a size with a unit, or a number of octets", () => {
  const sizes: [unknown, number][] = [
    [undefined, 40_000_000],
    [64_000, 64_000],
    ["25MB", 25_000_000],
    ["1.5 MB", 1_500_000],
    ["10MiB", 10_485_760],
    ["512kB", 512_000],
    ["70000B", 70_000],
  ];
  for (const [maxMessageSize, octets] of sizes) {
    const { config, problems } = validate({ maxMessageSize });
    assert.deepEqual([config.maxMessageSize, problems], [octets, []], String(maxMessageSize));
  }
  for (const maxMessageSize of [
    "25",
    "25 mb",
    "25MB/s",
    "1kB",
    0,
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    null,
    {},
  ]) {
    const { problems } = validate({ maxMessageSize });
    assert.match(problems[0] ?? "", /^posthaste\.maxMessageSize must be a size of at least 64000 octets/);
  }
});

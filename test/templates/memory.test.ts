import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

// The long form is `node --expose-gc --conditions=posthaste-source test/templates/memory.ts`: 100,000 renders.
test("rendering leaves nothing behind, Tailwind included", { timeout: 120_000 }, async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--expose-gc", "--conditions=posthaste-source", join(import.meta.dirname, "memory.ts"), "4000"],
    { env: { ...process.env, NODE_ENV: "production" } },
  );
  assert.match(stdout, /^4000 renders.*grown by -?[0-2]\.\d MB\n$/);
});

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "..");
const README = readFileSync(join(ROOT, "README.md"), "utf8");
const CHAPTER = README.slice(
  README.indexOf("\n## What is promised, and what is not"),
  README.indexOf("\n### The window for a second copy"),
);

test("every promise in README names tests that are there, and something that was found", () => {
  const rows = CHAPTER.split("\n").filter((line) => line.startsWith("| **"));
  assert.ok(rows.length > 10);
  for (const row of rows) {
    const [promise, tests = "", found = ""] = row
      .slice(2, -2)
      .split(" | ")
      .map((cell) => cell.trim());
    assert.ok(found.length > 3, promise);
    const links = [...tests.matchAll(/\[([^\]]+)\]\((test\/\S+\.test\.ts)\)/g)];
    assert.ok(links.length > 0, promise);
    for (const [, title = "", file = ""] of links) {
      const source = readFileSync(join(ROOT, file), "utf8");
      const titled = ['"', "`"].some((quote) => source.includes(`(${quote}${title}`));
      assert.ok(titled, `${file} has no test or suite whose title begins with ${JSON.stringify(title)}`);
    }
  }
});

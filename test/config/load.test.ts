import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { type LoadOptions, loadConfiguration } from "../../src/configuration/load.ts";

/** A folder outside any install that holds the given files. */
function folder(t: TestContext, files: Record<string, string>): string {
  const directory = mkdtempSync(join(tmpdir(), "posthaste-config-"));
  t.after(() => rmSync(directory, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  return directory;
}

function load(options: LoadOptions) {
  return loadConfiguration({ environment: {}, sends: false, ...options });
}

test("without a file the environment alone configures, relative to the working directory", async (t) => {
  const directory = folder(t, {});
  const environment = {
    DATABASE_URL: "postgres:///app",
    SMTP_URL: "smtp://mail.example",
    POSTHASTE_FROM: "a@b.example",
  };
  const { config, file, databaseUrl } = await load({ directory, environment, sends: true });
  assert.equal(file, null);
  assert.equal(databaseUrl, "postgres:///app");
  assert.equal(config.emails, join(directory, "emails"));
});

test("paths are relative to the file, wherever it lies", async (t) => {
  const text = 'export default { posthaste: { emails: "../emails" } };';
  const directory = folder(t, { "src/graphile.config.mjs": text, "deploy/production.mjs": text });
  assert.equal((await load({ directory })).config.emails, join(directory, "emails"));
  const named = await load({ directory, file: "deploy/production.mjs" });
  assert.equal(named.file, join(directory, "deploy/production.mjs"));
  assert.equal(named.config.emails, join(directory, "emails"));
});

test("a TypeScript file, a CommonJS file and one with top-level await are loaded", async (t) => {
  const files = {
    "a.ts": "const concurrency: number = 3; export default { posthaste: { concurrency } };",
    "b.cjs": "module.exports = { posthaste: { concurrency: 3 } };",
    "c.mts": "const concurrency: number = await 3; export default { posthaste: { concurrency } };",
  };
  const directory = folder(t, files);
  for (const file of Object.keys(files)) {
    assert.equal((await load({ directory, file })).config.concurrency, 3, file);
  }
});

test("what a preset extends is merged, and the file's own connection string is the database's", async (t) => {
  const directory = folder(t, {
    "graphile.config.mjs": `const shared = { posthaste: { lease: "30s" }, worker: { connectionString: "postgres:///file" } };
      export default { extends: [shared], posthaste: { concurrency: 2 } };`,
  });
  const { config, databaseUrl } = await load({ directory });
  assert.deepEqual([config.lease, config.concurrency, databaseUrl], [30_000, 2, "postgres:///file"]);
  const other = await load({ directory, environment: { DATABASE_URL: "postgres:///env" } });
  assert.equal(other.databaseUrl, "postgres:///env");
});

test("everything that is wrong is said in one error, one problem a line", async (t) => {
  const directory = folder(t, {
    "graphile.config.mjs": 'export default { posthaste: { leese: 1, lease: "1s" } };',
  });
  await assert.rejects(load({ directory }), (error: Error) => {
    assert.match(
      error.message,
      /graphile\.config\.mjs is not valid:\n- posthaste\.lease must be .*\n- .*did you mean "lease"\?$/,
    );
    return true;
  });
});

test("a file that throws is reported with its own message and line", async (t) => {
  const directory = folder(t, {
    "graphile.config.mjs": '\n\nthrow new Error("no vault at https://u:hunter2@vault.example");',
  });
  await assert.rejects(load({ directory }), (error: Error) => {
    assert.match(
      error.message,
      /cannot be loaded: no vault at https:\/\/\*\*\*@vault\.example \(.*graphile\.config\.mjs:3\)$/,
    );
    return true;
  });
});

test("a file that is not there is wrong usage", async (t) => {
  const directory = folder(t, {});
  await assert.rejects(load({ directory, file: "missing.ts" }), { name: "PosthasteError", exitCode: 2 });
});

test("a preset of the wrong shape is reported without its values", async (t) => {
  const directory = folder(t, {
    "graphile.config.mjs":
      'export default { plugins: ["x"], posthaste: { transports: { default: { url: "smtp://u:hunter2@m.example" } } } };',
    "empty.mjs": "export default null;",
    "named.ts": "export const preset: object = {};",
    "nothing.ts": "const preset: object = {};",
  });
  for (const file of ["graphile.config.mjs", "empty.mjs", "named.ts", "nothing.ts"]) {
    await assert.rejects(load({ directory, file }), (error: Error) => {
      assert.match(error.message, /does not hold a Graphile preset: .*export default/s);
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    });
  }
});

test("a TypeScript file that throws is run once, and nothing but the error is said", async (t) => {
  const directory = folder(t, {
    "graphile.config.ts":
      'const runs: { runs?: number } = globalThis as object; runs.runs = (runs.runs ?? 0) + 1;\nthrow new Error("boom");',
  });
  const said = t.mock.method(console, "error", () => {});
  await assert.rejects(load({ directory }), /cannot be loaded: boom/);
  assert.equal((globalThis as { runs?: number }).runs, 1);
  assert.equal(said.mock.callCount(), 0);
});

test("a misspelt scope is answered with the one that was meant", async (t) => {
  const directory = folder(t, { "graphile.config.mjs": "export default { posthast: {}, worker: {} };" });
  await assert.rejects(load({ directory }), {
    message: /is not valid: posthast is not a scope of the configuration; did you mean "posthaste"\?$/,
  });
});

test("a file that waits for ever is given up with a sentence that names it", async (t) => {
  const directory = folder(t, { "waits.mjs": "await new Promise(() => {}); export default {};" });
  await assert.rejects(load({ directory, file: "waits.mjs", timeout: 100 }), {
    name: "PosthasteError",
    message: /waits\.mjs cannot be loaded: it, or what it imports, did not end within 0\.1 s/,
  });
});

test("a file that ends the process, or never lets go of it, is named, and it does not look as if all were well", async (t) => {
  const directory = folder(t, {
    "ends.mjs": "process.exit(0);",
    "ends.cts": 'require("./ends.mjs"); module.exports = {};',
    "exit.ts": "const zero: number = 0; await null; process.exit(zero);",
    "loops.mjs": "for (;;);",
    "imports.ts": 'import "./loops.mjs"; export default {};',
  });
  const run = (file: string) => {
    const loader = pathToFileURL(join(import.meta.dirname, "../../src/configuration/load.ts")).href;
    const script = `(await import("${loader}")).loadConfiguration({ file: "${file}", timeout: 300 });`;
    const { status, signal, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: directory,
      encoding: "utf8",
    });
    return [status ?? signal, stderr];
  };
  const said = (file: string, what: string) =>
    `posthaste: ${file} cannot be loaded: it, or what it imports, ${what}.\n`;
  for (const file of ["ends.mjs", "ends.cts", "exit.ts"])
    assert.deepEqual(run(file), [1, said(file, "ends the process")]);
  const forEver = "did not end within 0.3 s; look for a loop, or for what it waits for";
  for (const file of ["loops.mjs", "imports.ts"])
    assert.deepEqual(run(file), ["SIGKILL", said(file, forEver)]);
});

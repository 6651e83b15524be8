import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { folder, posthaste } from "./posthaste.ts";

const here = import.meta.dirname;

test("help and version are answers: stdout, exit code 0", async () => {
  const help = await posthaste(here, ["--help"]);
  assert.deepEqual([help.code, help.stderr], [0, ""]);
  assert.match(help.stdout, /^Usage: posthaste .*migrate.*DATABASE_URL.*Exit codes/s);
  const version = await posthaste(here, ["--version"]);
  assert.deepEqual([version.code, version.stderr], [0, ""]);
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/);
});

test("wrong usage is one sentence on stderr, exit code 2", async () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [["migrat"], /^posthaste: unknown command 'migrat'; did you mean migrate\?\n$/],
    [["check", "--jsno"], /^posthaste: unknown option '--jsno'; did you mean --json\?\n$/],
    [["check", "more"], /^posthaste: too many arguments for 'check'.*\n$/],
    [["check", "--config"], /^posthaste: option '--config <file>' argument missing\n$/],
    [["check", "--config", "none.ts"], /^posthaste: There is no configuration file none\.ts; .*\n$/],
    [["migrate", "--grant", "app"], /^posthaste: A grant is ROLE=LOGIN .* it was 'app'\.\n$/],
    [["migrate", "--sql", "--json"], /^posthaste: --sql prints SQL, not JSON.*\n$/],
    [["migrate"], /^posthaste: There is no DATABASE_URL.*\n$/],
  ];
  for (const [args, message] of cases) {
    const run = await posthaste(here, args);
    assert.match(run.stderr, message);
    assert.deepEqual([run.code, run.stdout], [2, ""], args.join(" "));
  }
});

test("no command at all shows the help on stderr, exit code 2", async () => {
  const run = await posthaste(here, []);
  assert.deepEqual([run.code, run.stdout], [2, ""]);
  assert.match(run.stderr, /^Usage: posthaste/);
});

test("a configuration outside every install imports posthaste by name, and sees React's production build", async (t) => {
  const text = `import { PosthastePreset } from "posthaste";
    if (PosthastePreset.plugins.length === 0) throw new Error("no preset");
    if (process.env.NODE_ENV !== "production") throw new Error(process.env.NODE_ENV);
    export default { extends: [PosthastePreset], posthaste: { leese: 1 } };`;
  const directory = folder(t, {
    "graphile.config.mjs": text,
    "below/package.json": "{}",
    "below/graphile.config.ts": text,
  });
  for (const file of ["graphile.config.mjs", "below/graphile.config.ts"]) {
    const run = await posthaste(directory, ["migrate", "--config", file], {
      DATABASE_URL: "postgres://localhost:1/none",
    });
    assert.match(run.stderr, /is not valid: posthaste\.leese is not an option; did you mean "lease"\?\n$/);
    assert.equal(run.code, 1);
  }
});

test("an unexpected error is one line without credentials, and its stack only with DEBUG=posthaste", async (t) => {
  const directory = folder(t, {
    "graphile.config.mjs": `export default { get posthaste() { throw new Error("no https://u:hunter2@vault.example"); } };`,
  });
  const run = await posthaste(directory, ["migrate"]);
  assert.equal(run.code, 1);
  assert.match(run.stderr, /^posthaste: .*\n$/);
  const debug = await posthaste(directory, ["migrate"], { DEBUG: "posthaste" });
  assert.match(debug.stderr, /\n\s+at .*graphile\.config\.mjs/);
  assert.doesNotMatch(run.stderr + debug.stderr, /hunter2/);
});

test("an older Node.js is told which one is needed, before it reads anything that it cannot", async (t) => {
  const source = readFileSync(join(here, "../../src/cli/main.ts"), "utf8");
  const directory = folder(t, {
    "main.mjs": stripTypeScriptTypes(source),
    "old.mjs":
      'Object.defineProperty(process, "versions", { value: { ...process.versions, node: process.env.OLD } });',
  });
  const runs = ["20.20.2", "22.17.1", "22.18.0"].map(
    (version) =>
      new Promise<string>((resolve) => {
        const args = ["--import", join(directory, "old.mjs"), join(directory, "main.mjs")];
        const env = { PATH: process.env.PATH, OLD: version };
        execFile(process.execPath, args, { env }, (error, _, stderr) => resolve(`${error?.code} ${stderr}`));
      }),
  );
  const [older, old, enough] = await Promise.all(runs);
  assert.equal(older, "1 posthaste needs Node.js 22.18 or later; this is 20.20.2.\n");
  assert.equal(old, "1 posthaste needs Node.js 22.18 or later; this is 22.17.1.\n");
  // It goes on to what is not in that folder.
  assert.match(enough ?? "", /run-program/);
});

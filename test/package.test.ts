import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { createTestDatabase } from "./database.ts";
import { startSmtpServer } from "./smtp-server.ts";

const ROOT = join(import.meta.dirname, "..");
// npm finds registry and certificates in the environment; a developer's own settings of ours are left out.
const { DATABASE_URL, SMTP_URL, POSTHASTE_FROM, NODE_OPTIONS, NODE_ENV, ...inherited } = process.env;
// The pinned Node first, as npm scripts have it.
const ENVIRONMENT = {
  ...inherited,
  PATH: [join(ROOT, "node_modules/.bin"), process.env.PATH].join(delimiter),
};
const run = promisify(execFile);

const CONFIG = `import { PosthastePreset } from "posthaste";

const preset: GraphileConfig.Preset = {
  extends: [PosthastePreset],
  posthaste: { from: "Shop <no-reply@shop.example>", lease: "30s" },
};

export default preset;
`;
const TEMPLATE = `import { z } from "zod";
export const parameters = z.object({ name: z.string() });
export const subject = "Welcome";
export default function Welcome({ name }: z.infer<typeof parameters>) {
  return <p>Hello {name}</p>;
}
Welcome.PreviewProps = { name: "Ada" };
`;

let work = "";
let shop = "";

before(async () => {
  work = mkdtempSync(join(tmpdir(), "posthaste-package-"));
  shop = join(work, "shop");
  await run("npm", ["pack", "--silent", "--pack-destination", work], { cwd: ROOT, env: ENVIRONMENT });
  const tarball = readdirSync(work).find((name) => name.endsWith(".tgz")) ?? "";
  mkdirSync(join(shop, "emails"), { recursive: true });
  writeFileSync(join(shop, "package.json"), '{ "name": "shop", "private": true, "type": "module" }');
  writeFileSync(join(shop, "graphile.config.ts"), CONFIG);
  writeFileSync(join(shop, "emails/welcome.tsx"), TEMPLATE);
  const flags = ["--omit=dev", "--prefer-offline", "--fetch-retries=1", "--no-audit", "--no-fund"];
  await run("npm", ["install", ...flags, join(work, tarball)], { cwd: shop, env: ENVIRONMENT });
});

after(() => rmSync(work, { recursive: true, force: true }));

/** Runs the installed command by its link, as a shell would. */
function posthaste(args: readonly string[], environment: Record<string, string> = {}) {
  return run(join(shop, "node_modules/.bin/posthaste"), args, {
    cwd: shop,
    env: { ...ENVIRONMENT, ...environment },
  });
}

test("the installed command runs", async () => {
  const { stdout } = await posthaste(["--help"]);
  assert.match(stdout, /^Usage: posthaste/);
});

test("the package holds what runs, and neither tests nor this repository's own configuration", () => {
  const installed = join(shop, "node_modules/posthaste");
  const files = readdirSync(installed, { recursive: true }).map(String);
  assert.deepEqual(
    readdirSync(installed).sort(),
    ["LICENSE", "dist", "package.json", "sql", ...files.filter((file) => file === "README.md")].sort(),
  );
  assert.ok(files.some((file) => /^sql.migrations.\d{6}-.*\.sql$/.test(file)));
  assert.ok(!files.some((file) => /graphile\.config|\.test\./.test(file)));
});

test("a shop's own template and TypeScript configuration are read without any build step", async () => {
  const { stdout, stderr } = await posthaste(["check", "--no-connect"]);
  assert.match(
    stdout,
    /^ok {4}configuration: .*graphile\.config\.ts\nok {4}template welcome: renders as "Welcome"\.\n$/,
  );
  assert.equal(stderr, "");
});

test("the installed command brings the database to its version", async () => {
  const { connectionString } = await createTestDatabase(null, { empty: true });
  const first = await posthaste(["migrate", "--json"], { DATABASE_URL: connectionString });
  assert.equal(JSON.parse(first.stdout).functions, true);
  const second = await posthaste(["migrate"], { DATABASE_URL: connectionString });
  assert.match(second.stdout, /already\.\n$/);
});

test("the installed worker sends with the shop's own template and configuration", async (t) => {
  const { connectionString } = await createTestDatabase(t);
  const server = await startSmtpServer();
  t.after(() => server.close());
  const environment = { DATABASE_URL: connectionString, SMTP_URL: server.url };
  const enqueued = await posthaste(
    ["enqueue", "welcome", "ada@customer.example", "--param", "name=Ada"],
    environment,
  );
  await posthaste(["worker", "--once"], environment);
  const message = await server.nextMessage();
  assert.deepEqual(message.recipients, ["ada@customer.example"]);
  assert.match(message.raw.toString(), /Hello (<!-- -->)?Ada/);
  const shown = await posthaste(["show", enqueued.stdout.trim()], environment);
  assert.match(shown.stdout, /^SENT /);
});

test("a shop's configuration is typed: a misspelt option does not compile", async () => {
  writeFileSync(join(shop, "misspelt.ts"), CONFIG.replace("lease:", "leese:"));
  const options = {
    compilerOptions: { module: "nodenext", strict: true, noEmit: true, skipLibCheck: true, types: [] },
  };
  const check = (file: string) => {
    writeFileSync(join(shop, "tsconfig.json"), JSON.stringify({ ...options, files: [file] }));
    return run(join(ROOT, "node_modules/.bin/tsc"), [], { cwd: shop, env: ENVIRONMENT });
  };
  await check("graphile.config.ts");
  await assert.rejects(check("misspelt.ts"), ({ stdout }: { stdout: string }) => {
    assert.match(stdout, /misspelt\.ts\(5,\d+\): error TS2561: .*'leese'.*'lease'/);
    return true;
  });
});

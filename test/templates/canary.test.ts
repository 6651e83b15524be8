import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import pg from "pg";
import { embeddedBinaries } from "../../src/database/embedded.ts";
import { migrate } from "../../src/database/migrate.ts";
import { startPostgresServer } from "../../src/database/postgres-server.ts";
import { eventually } from "../faults/eventually.ts";
import { startScene } from "../faults/scene.ts";

const CANARY = "canary482913";
const run = promisify(execFile);

const ZOD = 'import { z } from "zod";';
const TEMPLATES = {
  "code.tsx": `${ZOD}
    export const parameters = z.object({ code: z.string(), name: z.string() });
    export const secrets = ["code"];
    export const subject = ({ code }) => "Your code is " + code;
    export default ({ code, name }) => <p>{name}: {code}</p>;`,
  "throws.tsx": `export const secrets = ["code"]; export const subject = "x";
    export default ({ code }) => { throw new Error("cannot show " + code); };`,
  "rejects.tsx": `${ZOD}
    export const parameters = z.object({ code: z.string().refine(() => false, { error: (issue) => "not " + issue.input }) });
    export const secrets = ["code"]; export const subject = "x"; export default () => <p/>;`,
};

test("a secret is in no dump of the cluster, no log and no file of a worker, once its mail has ended", {
  timeout: 90_000,
}, async (t) => {
  const dump = globSync("/usr/lib/postgresql/*/bin/pg_dumpall").at(-1);
  const binaries = dump ? dirname(dump) : await embeddedBinaries();
  // What a server could ever write about statements that fail, and all that it writes about those that do not.
  const server = await startPostgresServer({
    binaries,
    settings: { fsync: "off", log_error_verbosity: "verbose" },
  });
  const { connectionString } = server;
  await migrate({ connectionString });
  const pool = new pg.Pool({ connectionString, max: 4 });
  const scene = await startScene(t, {
    templates: TEMPLATES,
    options: { secretsAfterFailure: 6000 },
    database: {
      connectionString,
      query: async (text: string, values?: readonly unknown[]) =>
        (await pool.query(text, values as unknown[])).rows,
      async close() {
        await pool.end();
        await server.close();
      },
    } as never,
  });
  const parameters = { code: CANARY, name: "visible-name" };
  const worker = await scene.process();
  const sent = await scene.enqueue({ template: "code", parameters, idempotency_key: "code:1" });
  const cancelled = await scene.enqueue({
    template: "code",
    parameters,
    send_at: new Date(Date.now() + 3_600_000),
  });
  const failed = [
    await scene.enqueue({ template: "throws", parameters }),
    await scene.enqueue({ template: "rejects", parameters }),
    await scene.enqueue({ template: "code", parameters: { ...parameters, name: 5 } }),
  ];
  await pool.query("select posthaste.cancel($1)", [cancelled]);
  // Calls that PostgreSQL refuses, and logs.
  for (const values of [
    [JSON.stringify(parameters), "no address", "header\n"],
    [`"${CANARY}"`, "a@customer.example", "x"],
  ]) {
    await assert.rejects(
      pool.query(
        "select posthaste.enqueue('code', $2, $1, headers => jsonb_build_object('X-Test', $3::text))",
        values,
      ),
    );
  }
  await scene.until(sent, "SENT");
  const message = await scene.server.nextMessage();
  assert.match(message.raw.toString(), new RegExp(`Your code is ${CANARY}`), "the reader has it");
  for (const id of failed) await scene.until(id, "FAILED");

  assert.ok((await dumped()).includes(CANARY), "before secretsAfterFailure a failure can be retried");
  const kept = "select template, status from posthaste.email_messages where secrets_removed_at is null";
  await eventually("all secrets are removed", async () => (await pool.query(kept)).rowCount === 0, 15_000);

  const places = {
    dump: await dumped(),
    "server's log": readFileSync(server.log, "utf8"),
    "worker's log": worker.log.text,
    journal: existsSync(scene.journal)
      ? globSync("**/*", { cwd: scene.journal })
          .map((file) => readFileSync(join(scene.journal, file), "utf8"))
          .join()
      : "",
  };
  assert.ok(places.dump.includes("visible-name"));
  assert.match(places["server's log"], /PH004|parameters must be a JSON object/);
  assert.match(places["worker's log"], /render_failed/);
  for (const [place, text] of Object.entries(places)) {
    assert.ok(
      !text.includes(CANARY),
      `the secret is in the ${place}: ${text.slice(text.indexOf(CANARY) - 300).slice(0, 400)}`,
    );
  }
  await assert.rejects(pool.query("select posthaste.retry($1)", [failed[0]]), { code: "PH023" });

  /** Everything that the cluster holds, as text. */
  async function dumped(): Promise<string> {
    if (dump) {
      const { hostname, port, username, password } = new URL(connectionString);
      const args = ["--host", hostname, "--port", port, "--username", username, "--no-password"];
      const env = { ...process.env, PGPASSWORD: password };
      return (await run(dump, args, { env, maxBuffer: 2 ** 28 })).stdout;
    }
    // The embedded PostgreSQL has no pg_dumpall: the content of every table of the three schemas.
    const { rows } = await pool.query(
      "select format('select t::text as row from %I.%I t', schemaname, tablename) as statement from pg_tables where schemaname ~ 'posthaste|graphile'",
    );
    const tables = await Promise.all(rows.map(({ statement }) => pool.query(statement)));
    return tables.flatMap((table) => table.rows.map(({ row }: { row: string }) => row)).join("\n");
  }
});

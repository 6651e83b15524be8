import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { measurePurge } from "../bench/purge-load.ts";
import { startProcess } from "../bench/rpc.ts";
import { createTestDatabase } from "../database.ts";

// The short form of test/bench/purge.ts, which has figures of 500,000 rows. Here the machine has other tests to run, so the
// bounds on time are wide.
for (const mode of ["delete", "archive"] as const) {
  test(`a purge (${mode}) of 6,000 rows while a worker sends takes short steps and touches nothing that waits`, async (t) => {
    const closers: (() => Promise<unknown>)[] = [];
    t.after(async () => {
      for (const close of closers.reverse()) await close();
    });
    const scratch = await mkdtemp(join(tmpdir(), "posthaste-purge-"));
    closers.push(() => rm(scratch, { recursive: true, force: true }));
    const database = await createTestDatabase({ after: (close) => void closers.push(close) });
    const sink = await startProcess("sink.ts", { scratch });
    closers.push(sink.stop);
    const environment = { SMTP_URL: await sink.ask<string>("url"), DATABASE_URL: database.connectionString };
    const worker = await startProcess("posthaste.ts", { scratch, environment });
    closers.push(worker.stop);
    const load = await measurePurge({
      database: database.pool,
      connectionString: database.connectionString,
      worker,
      sink,
      mode,
      old: 6_000,
      waiting: 1_000,
      mails: 100,
      rounds: 1,
      onRound: (line) => t.diagnostic(line),
    });
    assert.deepEqual(load.purged.emails, { SENT: 6_000, FAILED: 0, CANCELLED: 0 });
    assert.equal(load.purged.complete, true);
    assert.equal(load.waitingUntouched, true);
    assert.ok(load.roundsDuring > 0, "mail was sent meanwhile");
    assert.ok(load.purged.longest < 1000, `the longest transaction took ${load.purged.longest} ms`);
    const [{ archived }] = await database.query(
      "select count(*)::int as archived from posthaste.email_archive",
    );
    assert.equal(archived, mode === "archive" ? 6_000 : 0);
  });
}

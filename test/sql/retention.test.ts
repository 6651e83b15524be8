import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { aged } from "./aged.ts";
import { claimed, enqueue, errorOf, mail, record, transaction, unique } from "./mails.ts";

const database = await createTestDatabase();
const { pool } = database;

const START = ["-infinity", "00000000-0000-0000-0000-000000000000"] as const;
const END_STATES = ["SENT", "FAILED", "CANCELLED"] as const;

/** One step from the beginning. */
async function step(
  status: string,
  {
    days = 90,
    archive = false,
    keys = "30 days",
    from = START as readonly [string, string],
    batch = 1000,
  } = {},
  on: Pick<typeof pool, "query"> = pool,
): Promise<{ last_at: string; last_id: string; seen: number; removed: number }> {
  const { rows } = await on.query(
    "select last_at::text, last_id, seen, removed from posthaste_private.purge($1, make_interval(days => $2), $3, $4, $5, $6, $7)",
    [status, days, archive, keys, ...from, batch],
  );
  return rows[0];
}

/** Which of these are still there. */
async function left(ids: readonly string[]): Promise<string[]> {
  const rows = await database.query(
    "select id from posthaste.email_messages where id = any ($1) order by id",
    [ids],
  );
  return rows.map(({ id }) => id);
}

suite("a step of a purge", () => {
  for (const status of END_STATES) {
    test(`deletes ${status} mail that ended before its age, with attempts and index, and nothing else`, async () => {
      const others = END_STATES.filter((other) => other !== status);
      const old = await aged(pool, 5, 91, status);
      const young = await aged(pool, 5, 89, status);
      const rest = (await Promise.all(others.map((other) => aged(pool, 2, 1000, other)))).flat();
      const waiting = [...(await aged(pool, 3, 1000, "PENDING")), ...(await aged(pool, 3, 1000, "SENDING"))];
      await pool.query(
        "insert into posthaste.email_attempts (email_id, number, worker, started_at, outcome) select unnest($1::uuid[]), 1, 'w', now(), 'sent'",
        [old],
      );
      assert.equal((await step(status)).removed, 5);
      assert.deepEqual(await left(old), []);
      assert.deepEqual(await left([...young, ...rest, ...waiting]), [...young, ...rest, ...waiting].sort());
      const of = "where email_id = any ($1)";
      assert.deepEqual(await database.query(`select from posthaste.email_attempts ${of}`, [old]), []);
      assert.deepEqual(
        await database.query(`select from posthaste_private.recipient_index ${of}`, [old]),
        [],
      );
      assert.equal((await step(status)).removed, 0);
      await pool.query("delete from posthaste.email_messages where id = any ($1)", [[...young, ...rest]]);
    });
  }

  test("goes by the end of a mail, not by its beginning", async () => {
    const ids = await aged(pool, 2, 200);
    await pool.query(
      "update posthaste.email_messages set finished_at = now() - interval '89 days' where id = $1",
      [ids[0]],
    );
    assert.deepEqual(await step("SENT").then(({ seen, removed }) => ({ seen, removed })), {
      seen: 2,
      removed: 1,
    });
    assert.deepEqual(await left(ids), [ids[0]]);
    await pool.query("delete from posthaste.email_messages where id = any ($1)", [ids]);
  });

  test("looks at no more than `batch`, at most 1,000, and the next goes on where it came to", async () => {
    const ids = await aged(pool, 1100, 100);
    const first = await step("SENT", { batch: 5000 });
    assert.deepEqual([first.seen, first.removed], [1000, 1000]);
    const next = await step("SENT", { batch: 60, from: [first.last_at, first.last_id] });
    assert.deepEqual([next.seen, next.removed], [60, 60]);
    const last = await step("SENT", { from: [next.last_at, next.last_id] });
    assert.deepEqual([last.seen, last.removed], [40, 40]);
    assert.deepEqual(await left(ids), []);
  });

  test("waits for nobody: a mail that an operator is retrying at this moment stays", async () => {
    const ids = await aged(pool, 3, 400, "FAILED");
    await transaction(pool, async (client) => {
      await client.query("select posthaste.retry($1)", [ids[0]]);
      assert.equal((await step("FAILED")).removed, 2);
    });
    assert.equal((await mail(pool, ids[0] as string)).status, "PENDING");
    assert.equal((await step("FAILED")).removed, 0);
  });

  test("of what is not an end is refused", async () => {
    for (const status of ["PENDING", "SENDING", "sent", ""]) {
      assert.equal((await errorOf(step(status))).code, "PH007", status);
    }
  });

  test("keeps idempotency keys for their own time, and then the business event may happen anew", async () => {
    const idempotency_key = unique("order");
    const lease = await claimed(pool, { idempotency_key });
    await record(pool, lease, { kind: "sent", accepted: [1], phase: "final_dot" });
    const back =
      "created_at = now() - interval '100 days', sent_at = now() - interval '100 days', finished_at = now() - interval '100 days'";
    await pool.query(`update posthaste.email_messages set ${back} where id = $1`, [lease.id]);
    assert.equal((await step("SENT", { keys: "30 days" })).removed, 1);
    assert.equal(await enqueue(pool, { idempotency_key }), lease.id, "the same event adds no mail");
    const kept =
      "select extract(day from expires_at - now())::int as days from posthaste_private.idempotency_keys where key = $1";
    assert.deepEqual(await database.query(kept, [idempotency_key]), [{ days: 29 }]);
    const purgeKeys = async () =>
      (await database.query("select posthaste_private.purge_keys(1000) as count"))[0].count;
    assert.equal(await purgeKeys(), 0);
    await pool.query("update posthaste_private.idempotency_keys set expires_at = now() where key = $1", [
      idempotency_key,
    ]);
    assert.equal(await purgeKeys(), 1);
    assert.notEqual(await enqueue(pool, { idempotency_key }), lease.id);
  });

  test("archives failed mail without its secret parameters", async () => {
    await pool.query(
      "insert into posthaste_private.template_secrets (template, paths) values ('vault', '{code}') on conflict do nothing",
    );
    const lease = await claimed(pool, { template: "vault", parameters: { code: "canary-4711", n: 1 } });
    await record(pool, lease, { kind: "failed", error_code: "render_failed" });
    await pool.query(
      "update posthaste.email_messages set created_at = now() - interval '1 year', finished_at = now() - interval '1 year' where id = $1",
      [lease.id],
    );
    assert.equal((await step("FAILED", { archive: true })).removed, 1);
    const [row] = await database.query("select parameters from posthaste.email_archive where id = $1", [
      lease.id,
    ]);
    assert.deepEqual(row.parameters, { n: 1 });
  });

  test("archives in the statement that deletes, with every column and the attempts", async () => {
    const lease = await claimed(pool, {
      cc: ["bob@shop.example"],
      parameters: { n: 1 },
      reference: unique("order"),
      owner: "7",
    });
    await record(pool, lease, {
      kind: "sent",
      accepted: [1, 2],
      phase: "final_dot",
      subject: "Yours",
      provider_response: "250 ok",
      transport: "default",
    });
    await pool.query(
      "update posthaste.email_messages set created_at = now() - interval '1 year', finished_at = now() - interval '1 year' where id = $1",
      [lease.id],
    );
    const before = (
      await database.query("select to_jsonb(m) as row from posthaste.email_messages m where id = $1", [
        lease.id,
      ])
    )[0].row;
    const attempts = await database.query(
      "select to_jsonb(a) - 'email_id' as row from posthaste.email_attempts a where email_id = $1",
      [lease.id],
    );
    assert.equal((await step("SENT", { archive: true })).removed, 1);
    assert.deepEqual(await left([lease.id]), []);
    const [{ row }] = await database.query(
      "select to_jsonb(a) as row from posthaste.email_archive a where id = $1",
      [lease.id],
    );
    const { attempts: archived, archived_at, ...rest } = row;
    assert.deepEqual(
      archived,
      attempts.map((each) => each.row),
    );
    assert.ok(archived_at);
    // What was the worker's alone is not history.
    const { locked_at, locked_until, locked_by, lease_token, handed_over_at, next_attempt_at, ...kept } =
      before;
    assert.deepEqual(rest, kept);
  });

  test("that fails leaves neither half of the move", async () => {
    const [id] = await aged(pool, 1, 400);
    await pool.query("alter table posthaste.email_archive add constraint full_disk check (false) not valid");
    assert.equal((await errorOf(step("SENT", { archive: true }))).code, "23514");
    await pool.query("alter table posthaste.email_archive drop constraint full_disk");
    assert.deepEqual(await left([id as string]), [id]);
    await pool.query("delete from posthaste.email_messages where id = $1", [id]);
  });
});

test("mail that is still to be sent cannot be deleted, whoever tries and however", async () => {
  const waiting = await enqueue(pool);
  const sending = await claimed(pool);
  for (const id of [waiting, sending.id]) {
    assert.equal(
      (await errorOf(pool.query("delete from posthaste.email_messages where id = $1", [id]))).code,
      "PH040",
    );
  }
  assert.equal((await errorOf(pool.query("delete from posthaste.email_messages"))).code, "PH040");
  await pool.query("select posthaste.cancel($1)", [waiting]);
  await pool.query("delete from posthaste.email_messages where id = $1", [waiting]);
});

suite("owned files", () => {
  const file = (storage_ref: string, owned = true) => ({
    filename: "a.pdf",
    content_type: "application/pdf",
    storage_ref,
    owned,
  });
  const orphans = async () =>
    (await database.query("select storage_ref from posthaste_private.orphan_files order by 1")).map(
      (row) => row.storage_ref,
    );
  const take = async () =>
    (await database.query("select posthaste_private.take_orphans('10 minutes', 100) as ref order by 1")).map(
      (row) => row.ref,
    );
  const settle = (ref: string, deleted: boolean) =>
    pool.query("select posthaste_private.settle_orphan($1, $2)", [ref, deleted]);
  /** Ended mail with these files. */
  async function withFiles(...files: ReturnType<typeof file>[]): Promise<string> {
    const [id] = await aged(pool, 1, 400);
    await pool.query("update posthaste.email_messages set attachments = $2 where id = $1", [
      id,
      JSON.stringify(files),
    ]);
    return id as string;
  }

  test("are released with the last mail that refers to them, in its transaction; others never", async () => {
    const shared = file("folder:shared.pdf");
    const id = await withFiles(file("folder:own.pdf"), shared, file("folder:terms.pdf", false));
    const other = await withFiles({ ...shared, owned: false });
    await pool.query("delete from posthaste.email_messages where id = $1", [id]);
    assert.deepEqual(await orphans(), ["folder:own.pdf", "folder:shared.pdf"]);
    assert.deepEqual(await take(), ["folder:own.pdf"], "the other is looked at later");
    assert.deepEqual(await take(), [], "given to one");
    await settle("folder:own.pdf", true);
    await pool.query("delete from posthaste.email_messages where id = $1", [other]);
    await pool.query("update posthaste_private.orphan_files set next_at = now()");
    assert.deepEqual(await take(), ["folder:shared.pdf"]);
    await settle("folder:shared.pdf", true);
    assert.deepEqual(await orphans(), []);
  });

  test("of archived mail stay until the archive's row goes", async () => {
    const id = await withFiles(file("folder:archived.pdf"));
    await step("SENT", { archive: true });
    assert.deepEqual(await orphans(), []);
    await pool.query("delete from posthaste.email_archive where id = $1", [id]);
    assert.deepEqual(await take(), ["folder:archived.pdf"]);
    await settle("folder:archived.pdf", true);
  });

  test("that their store cannot delete come again, each time later, at most a day", async () => {
    await pool.query("insert into posthaste_private.orphan_files (storage_ref) values ('folder:stuck.pdf')");
    const hours: number[] = [];
    for (let n = 0; n < 7; n++) {
      await pool.query("update posthaste_private.orphan_files set next_at = now()");
      assert.deepEqual(await take(), ["folder:stuck.pdf"]);
      await settle("folder:stuck.pdf", false);
      const [row] = await database.query(
        "select round(extract(epoch from next_at - now()) / 3600)::int as hours from posthaste_private.orphan_files",
      );
      hours.push(row.hours);
    }
    assert.deepEqual(hours, [1, 2, 4, 8, 16, 24, 24]);
  });
});

test("the archive has every column of the mail but those of its lease", async () => {
  const columns = async (table: string) =>
    (
      await database.query(
        "select attname || ' ' || atttypid::regtype as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped",
        [table],
      )
    ).map((row) => row.name);
  const lease = [
    "locked_at",
    "locked_until",
    "locked_by",
    "lease_token",
    "handed_over_at",
    "next_attempt_at",
  ];
  const wanted = (await columns("posthaste.email_messages")).filter(
    (name) => !lease.includes(name.split(" ")[0]),
  );
  const archive = await columns("posthaste.email_archive");
  assert.deepEqual(wanted.sort(), archive.filter((name) => !/^(attempts|archived_at) /.test(name)).sort());
});

test("a purge reads along an index that is there anyway, and deletes by the key", async () => {
  await aged(pool, 3000, 1);
  await pool.query("analyze posthaste.email_messages");
  const client = await pool.connect();
  const plan = await client.query(
    `explain select m.id from posthaste.email_messages m where m.status = 'SENT' and m.created_at < now() - interval '90 days'
     and (m.created_at, m.id) > ('-infinity', '00000000-0000-0000-0000-000000000000') order by m.created_at, m.id limit 1000`,
  );
  client.release();
  const text = plan.rows.map((row) => row["QUERY PLAN"]).join("\n");
  assert.match(text, /Index (Only )?Scan Backward using email_messages_status/);
  assert.doesNotMatch(text, /Sort/);
});

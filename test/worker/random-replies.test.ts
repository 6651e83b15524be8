import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { brokenPromises } from "../chaos/expected-end.ts";
import { playScripts, requestOf, scriptedMail } from "../chaos/reply-scripts.ts";
import { eventually } from "../faults/eventually.ts";
import { readLedger } from "../faults/ledger.ts";
import type { Row } from "../faults/mails.ts";
import { startScene } from "../faults/scene.ts";
import { startSmtpServer } from "../smtp-server.ts";

const RUNS = 500;

test("whatever a server answers to RCPT, DATA and the dot, nobody who was accepted or refused is mailed again", async (t) => {
  const seed = Number(process.env.POSTHASTE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`POSTHASTE_TEST_SEED=${seed}`);
  const mails = fc.sample(scriptedMail, { numRuns: RUNS, seed });
  const { script, seen } = playScripts(mails);
  const scene = await startScene(t, { smtp: { script } });
  const piped = await startSmtpServer({ script, pipelining: true });
  t.after(() => piped.close());
  await scene.here({
    pollInterval: 100,
    options: {
      transports: {
        default: { url: scene.server.url, connections: 10 },
        piped: { url: piped.url, connections: 10 },
      },
      breaker: { failures: 1000 },
      retry: { delays: ["1ms"] },
    },
  });
  const ids = await Promise.all(mails.map((mail, number) => scene.enqueue(requestOf(mail, number))));
  await eventually(
    "all mail is at its end",
    async () => {
      // What a server's hint puts off is due at once here.
      const hurried = await scene.database.query(`
        update posthaste.email_messages m set next_attempt_at = now()
        from (
          select id from posthaste.email_messages where status = 'PENDING' and next_attempt_at > now()
          order by id for update skip locked
        ) later
        where m.id = later.id returning m.id`);
      await scene.database.query("select posthaste_private.add_jobs($1)", [hurried.map(({ id }) => id)]);
      const [{ open }] = await scene.database.query(
        "select count(*)::int as open from posthaste.email_messages where status in ('PENDING', 'SENDING')",
      );
      return open === 0;
    },
    60_000,
  );

  const rows = new Map(
    (await scene.database.query<Row>("select * from posthaste.email_messages")).map((row) => [row.id, row]),
  );
  const failures = mails.flatMap((mail, number) => {
    const row = rows.get(ids[number] as string) as Row;
    const transactions = seen[number] ?? [];
    const broken = brokenPromises(mail, transactions, row);
    return broken.length === 0 ? [] : [{ broken, mail, transactions, row }];
  });
  t.diagnostic(
    `${seen.flat().length} transactions, ${failures.length} of ${RUNS} mails not as they should be`,
  );
  assert.deepEqual(failures.slice(0, 1), []);

  const { unrecorded, duplicated, ...ledger } = await readLedger(scene.database, [
    ...scene.server.accepted,
    ...piped.accepted,
  ]);
  assert.deepEqual(ledger, { waiting: [], lost: [], unflagged: [], unexpected: [] });
  // A message that was kept without a word: nobody can know, and the row says so.
  for (const pair of unrecorded)
    assert.equal(rows.get(pair.split(" ")[0] as string)?.possible_duplicate, true);
  t.diagnostic(`${duplicated.length} second copies, all of mail whose outcome was unknown`);
});

import { setTimeout as delay } from "node:timers/promises";
import { startOwnDatabase } from "../faults/own-database.ts";
import type { Scene } from "../faults/scene.ts";
import { type Account, accountOf } from "./account.ts";
import { faultyServer } from "./faulty-smtp.ts";
import { startPgBouncer } from "./pgbouncer.ts";
import { startProducer } from "./producer.ts";
import { onStage } from "./stage.ts";
import { type Calendar, startCrew, startTrouble, type Toll } from "./trouble.ts";

/** What a soak has shown. */
export interface Soak extends Account {
  readonly toll: Toll;
  /** Mail that the producer was told is enqueued, and of this what has no row, or more than one. */
  readonly promised: number;
  readonly missing: number;
  readonly takenBack: number;
  /** Statements of the producer that failed and were made again. */
  readonly producerFailures: number;
  /** How mail ended: status and error code → mails. */
  readonly ends: Readonly<Record<string, number>>;
  /** Mail that ended in a way that nothing in this soak explains. */
  readonly unexplained: number;
  /** Milliseconds from the end of the trouble until no mail was waiting. */
  readonly drain: number;
}

/** The mail server's and a template's own wishes; everything else has to be got over. */
const EXPLAINED = ["SENT", "SENT recipient_refused", "SENT message_refused", "FAILED recipient_refused", "FAILED message_refused", "FAILED outcome_unknown", "SENT outcome_unknown"]; // biome-ignore format: a list

const DRAIN_LIMIT = 120_000;

/**
 * Mail is enqueued all the time, while workers die, connections end, PostgreSQL crashes and the mail server fails; then
 * all trouble ends, what waits is sent, and everything is counted.
 * @param options.duration milliseconds of trouble
 * @param options.rate mails in a second
 * @param options.onProgress told each 10 s how many mails were promised and accepted so far
 */
export async function soak(options: {
  duration: number;
  rate: number;
  calendar: Calendar;
  onProgress?: (promised: number, accepted: number, toll: Toll) => void;
}): Promise<Soak> {
  const database = await startOwnDatabase();
  const faults = { share: 0.1 };
  return onStage({ database, smtp: { script: faultyServer(faults), keepRaw: false } }, async (scene) => {
    const bouncer = await startPgBouncer(database.connectionString);
    const crew = startCrew(scene, 3);
    const producer = startProducer({
      connectionString: bouncer.connectionString,
      rate: options.rate,
    });
    const trouble = startTrouble(crew, database, options.calendar);
    const progress = setInterval(
      () => options.onProgress?.(producer.promised.length, scene.server.accepted.length, trouble.toll),
      10_000,
    );
    try {
      await delay(options.duration);
    } finally {
      clearInterval(progress);
      await trouble.stop();
      await producer.stop();
      await bouncer.close();
    }
    faults.share = 0;
    const ended = performance.now();
    await drain(scene);
    const took = performance.now() - ended;
    trouble.toll.badStops += await crew.close();
    const account = await accountOf(scene);
    const ends = await countEnds(scene);
    return {
      ...account,
      toll: trouble.toll,
      promised: producer.promised.length,
      missing: await countMissing(scene, producer.promised),
      takenBack: producer.takenBack,
      producerFailures: producer.failures,
      ends,
      unexplained: Object.entries(ends).reduce(
        (sum, [end, count]) => sum + (EXPLAINED.includes(end) ? 0 : count),
        0,
      ),
      drain: took,
    };
  });
}

/** Until no mail waits; what a mail server's hint puts off is due now. */
async function drain({ database }: Scene): Promise<void> {
  const limit = performance.now() + DRAIN_LIMIT;
  for (;;) {
    const later = await database.query(`
      update posthaste.email_messages m set next_attempt_at = now()
      from (
        select id from posthaste.email_messages where status = 'PENDING' and next_attempt_at > now() + interval '1 second'
        order by id for update skip locked
      ) later
      where m.id = later.id returning m.id`);
    await database.query("select posthaste_private.add_jobs($1)", [later.map(({ id }) => id)]);
    const [{ open }] = await database.query(
      "select count(*)::int as open from posthaste.email_messages where status in ('PENDING', 'SENDING')",
    );
    if (open === 0 || performance.now() > limit) return;
    await delay(250);
  }
}

async function countEnds({ database }: Scene): Promise<Record<string, number>> {
  const rows = await database.query(
    "select concat_ws(' ', status, error_code) as how, count(*)::int from posthaste.email_messages group by 1 order by 2 desc",
  );
  return Object.fromEntries(rows.map(({ how, count }) => [how, count]));
}

async function countMissing({ database }: Scene, promised: readonly string[]): Promise<number> {
  const [{ missing }] = await database.query(
    `select count(*)::int as missing from unnest($1::text[]) key
     where (select count(*) from posthaste.email_messages m where m.idempotency_key = key) <> 1`,
    [promised],
  );
  return missing;
}

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import fc from "fast-check";
import { eventually } from "../faults/eventually.ts";
import { brokenInvariants } from "../faults/invariants.ts";
import type { Row } from "../faults/mails.ts";
import { startScene } from "../faults/scene.ts";
import { type Answer, answer, type Point } from "./answers.ts";
import { type Received, startHostileServer } from "./hostile-server.ts";

/** What became of the mails that a hostile server was given. */
export interface ServerSide {
  readonly mails: number;
  readonly answers: Readonly<Record<string, number>>;
  readonly ends: Readonly<Record<string, number>>;
  /** Peak of the worker's memory above where it began, MiB. */
  readonly grown: number;
  /** Promises that do not hold, each with its mail. */
  readonly broken: readonly string[];
}

const attack = fc.record({
  point: fc.constantFrom<Point>("mail", "rcpt", "rcpt", "data", "dot", "dot", "dot"),
  answer,
  times: fc.integer({ min: 1, max: 3 }),
  connection: fc.option(
    fc.tuple(fc.constantFrom<Point>("greeting", "ehlo", "starttls", "rset", "quit"), answer),
    { freq: 2 },
  ),
});

// A server's whole line that says yes.
const YES = /^2\d\d(?:[\s-][^\n]*)?\n/m;
const RAW = /[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/;

/** Sends mails by a worker process to servers that answer anything, until they are well again. */
export async function fuzzServer(
  t: { after(close: () => Promise<void>): void },
  seed: number,
  mails: number,
): Promise<ServerSide> {
  const attacks = fc.sample(attack, { seed, numRuns: mails });
  const left = attacks.map(({ times }) => times);
  const atConnections = attacks.flatMap(({ connection }) => (connection ? [connection] : []));
  const answers = new Map<string, number>();
  const used = (chosen: Answer) => {
    const kind = chosen.kind.replace(/^code .*/, "one code");
    answers.set(kind, (answers.get(kind) ?? 0) + 1);
    return chosen;
  };
  const decide = (point: Point, from: string) => {
    const number = Number(/^m(\d+)@/.exec(from)?.[1] ?? -1);
    const own = attacks[number];
    if (own?.point === point && (left[number] ?? 0) > 0) {
      left[number]! -= 1;
      return used(own.answer);
    }
    const at = atConnections.findIndex(([where]) => where === point);
    return at < 0 ? null : used(atConnections.splice(at, 1)[0]![1]);
  };
  const plain = await startHostileServer(decide, ["STARTTLS"]);
  const piped = await startHostileServer(decide, ["PIPELINING", "8BITMIME", "SMTPUTF8"]);
  t.after(async () => {
    await plain.close();
    await piped.close();
  });
  const scene = await startScene(t);
  const worker = await scene.process({
    options: {
      concurrency: 20,
      timeouts: { connect: 2000, greeting: 300, command: 300, finalReply: 300 },
      retry: { delays: ["1ms"] },
      breaker: { failures: 1000, probe: 100, maxProbe: 100 },
      transports: {
        default: { url: scene.server.url },
        plain: { url: `${plain.url}?opportunisticTLS=true`, connections: 10 },
        piped: { url: piped.url, connections: 10 },
      },
    },
  });
  const before = await residentMemory(worker.pid);
  let peak = before;
  const ids = await Promise.all(
    attacks.map((_, number) =>
      scene.enqueue({
        from_address: `m${number}@shop.example`,
        recipient: null,
        recipients: [`a${number}@customer.example`, `b${number}@customer.example`],
        transport: number % 2 ? "piped" : "plain",
        max_attempts: 20,
        parameters: { n: number },
      }),
    ),
  );
  await eventually(
    "all mail is at its end",
    async () => {
      peak = Math.max(peak, await residentMemory(worker.pid));
      const hurried = await scene.database.query(`
        update posthaste.email_messages m set next_attempt_at = now() from (
          select id from posthaste.email_messages where status = 'PENDING' and next_attempt_at > now()
          order by id for update skip locked) later
        where m.id = later.id returning m.id`);
      await scene.database.query("select posthaste_private.add_jobs($1)", [hurried.map(({ id }) => id)]);
      const [{ open }] = await scene.database.query(
        "select count(*)::int as open from posthaste.email_messages where status in ('PENDING', 'SENDING')",
      );
      return open === 0;
    },
    30_000 + mails * 60,
  );
  // The worker is alive, and the next mail goes out.
  await scene.until(await scene.enqueue({ recipient: "last@customer.example" }), "SENT");

  const received = [...plain.received, ...piped.received];
  const broken: string[] = [];
  const ends: Record<string, number> = {};
  for (const [number, id] of ids.entries()) {
    const row = await scene.row(id);
    const end = [row.status, row.error_code].filter(Boolean).join(" ");
    ends[end] = (ends[end] ?? 0) + 1;
    const copies = received.filter(({ from }) => from === `m${number}@shop.example`);
    for (const promise of brokenBy(row, copies))
      broken.push(`${promise}: ${number} ${JSON.stringify({ attack: attacks[number], row })}`);
  }
  for (const [promise, rows] of Object.entries(await brokenInvariants(scene.database, 1000)))
    broken.push(`${promise}: ${JSON.stringify(rows)}`);
  const texts = await scene.database.query<{ text: string | null }>(`
    select unnest(array[error_message, provider_response]) as text from posthaste.email_messages
    union all select to_jsonb(a) ->> 'message' from posthaste.email_attempts a
    union all select reason from posthaste_private.transports`);
  const logged = worker.log.lines
    .flatMap((line) => Object.values(line))
    .map((value) => (typeof value === "string" ? value : null));
  for (const text of [...texts.map((row) => row.text), ...logged])
    if (text && RAW.test(text)) broken.push(`a control character is kept: ${JSON.stringify(text)}`);
  assert.doesNotMatch(worker.log.text, /\u001b/);
  return {
    mails,
    answers: Object.fromEntries(answers),
    ends,
    grown: Math.round((peak - before) / 1024),
    broken,
  };
}

function brokenBy(row: Row, copies: readonly Received[]): string[] {
  const yes = copies.filter(({ written }) => YES.test(written.toString("latin1")));
  // The first reply counts: after a refusal nothing that follows is about this message.
  const kept = yes.filter(({ written }) => !/^3\d\d[^\n]*\n[45]\d\d/.test(written.toString("latin1")));
  const twice = [...row.recipients].some(
    (address: string) => kept.filter(({ recipients }) => recipients.includes(address)).length > 1,
  );
  const bare = (address: string) => yes.some(({ recipients }) => recipients.includes(address));
  return [
    row.status === "SENT" && yes.length === 0 && "SENT without a yes",
    row.delivered_to.some((address: string) => !bare(address)) &&
      "delivered to somebody for whom nobody said yes",
    twice && !row.possible_duplicate && "a second copy without a flag",
    row.status === "FAILED" && !row.error_code && "FAILED without a reason",
    yes.some(({ raw }) => /\r(?!\n)|(?<!\r)\n/.test(raw.toString("latin1"))) && "a bare CR or LF",
  ].filter((promise) => promise !== false);
}

/** KiB. */
async function residentMemory(pid: number): Promise<number> {
  return Number((await promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)])).stdout);
}

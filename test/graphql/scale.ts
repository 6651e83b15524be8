import type pg from "pg";
import { migrate } from "../../src/database/migrate.ts";
import { createPool } from "../../src/database/pool.ts";
import { startServer } from "../server.ts";

/** What one page of a list took. */
export interface Measured {
  readonly name: string;
  /** Rows of the page. */
  readonly rows: number;
  /** Milliseconds of the database, the median of five. */
  readonly milliseconds: number;
  /** The plan, one line a node. */
  readonly plan: string;
}

/** Lists that operators and viewers ask for. */
export const LISTS: Readonly<Record<string, object>> = {
  everything: {},
  ...Object.fromEntries(
    ["PENDING", "SENDING", "SENT", "FAILED", "CANCELLED"].map((status) => [
      `status ${status}`,
      { status: [status] },
    ]),
  ),
  "two statuses": { status: ["FAILED", "CANCELLED"] },
  "template, frequent": { template: "t0" },
  "template, rare": { template: "rare" },
  "recipient, usual": { recipient: "c1234@customer.example" },
  "recipient, of every tenth mail": { recipient: "ops@shop.example" },
  "reference, usual": { reference: "order:1234" },
  "reference, of every tenth mail": { reference: "campaign:1" },
  "owner, usual": { owner: "customer:77" },
  "owner, frequent": { owner: "customer:0" },
  "error code": { error_code: "recipient_refused" },
  "error code, rare": { error_code: "render_failed" },
  "two error codes": { error_code: ["recipient_refused", "render_failed"] },
  "transport, default": { transport: "default" },
  "transport, second": { transport: "bulk" },
  "transport, rare": { transport: "old" },
  "possible duplicate": { possible_duplicate: true },
  "created, a day long ago": { since: "2026-01-10", until: "2026-01-11" },
  "created, all but the last month": { until: "2026-03-01" },
  "status + template": { status: ["FAILED"], template: "t3" },
  "status + template, frequent": { status: ["SENT"], template: "t0" },
  "status + created": { status: ["FAILED"], since: "2026-01-10", until: "2026-02-10" },
  "status + recipient": { status: ["FAILED"], recipient: "ops@shop.example" },
  "owner + template": { owner: "customer:0", template: "t2" },
};

/**
 * Fills a migrated database: three months of mail, nearly all of it sent. Triggers are off, because jobs of a million mails
 * are not what is measured.
 */
export async function fill(client: pg.ClientBase, rows: number): Promise<void> {
  await client.query("alter table posthaste.email_messages disable trigger user");
  await client.query(
    `insert into posthaste.email_messages (id, status, template, recipients, owner, reference, transport, transport_used, error_code, possible_duplicate,
       send_at, max_attempts, attempt_count, next_attempt_at, lease_token, locked_until, locked_by, created_at, sent_at, finished_at, subject, message_id, delivered_to)
     select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing substring(int8send((extract(epoch from r.at) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid,
       r.status, case when r.n % 33333 = 7 then 'rare' else 't' || least(r.n * 79 % 41, r.n * 37 % 20) end,
       array[case when r.n % 10 = 3 then 'ops@shop.example' else 'c' || r.n % 100000 || '@customer.example' end],
       case when r.n % 5 = 0 then 'customer:0' else 'customer:' || r.n % 5000 end,
       case when r.n % 10 = 4 then 'campaign:1' else 'order:' || r.n / 2 end,
       case when r.n % 5 = 1 then 'bulk' end, case when r.status = 'SENT' then case when r.n % 5 = 1 then 'bulk' when r.n % 50000 = 8 then 'old' else 'default' end end,
       case when r.status = 'FAILED' then (array['recipient_refused', 'message_refused', 'recipient_invalid', 'outcome_unknown'])[1 + r.n % 4] when r.n % 50000 = 9 then 'render_failed' end,
       r.n % 1000 = 11, r.at, 8, 1, r.at,
       case when r.status = 'SENDING' then gen_random_uuid() end, case when r.status = 'SENDING' then r.at end, 'w1', r.at,
       case when r.status = 'SENT' then r.at end, case when r.status not in ('PENDING', 'SENDING') then r.at end, 'Subject ' || r.n, '<' || r.n || '@shop.example>', '{}'
     from (
       select n, timestamptz '2026-01-01' + n * (interval '90 days' / $1::int) as at,
         case when n > $1 - 15 then 'SENDING' when n > $1 * 0.985 then 'PENDING' when n % 71 = 0 then 'FAILED' when n % 97 = 0 then 'CANCELLED' else 'SENT' end as status
       from generate_series(1, $1::int) n
     ) r`,
    [rows],
  );
  await client.query("alter table posthaste.email_messages enable trigger user");
  await client.query(
    "insert into posthaste_private.recipient_index (address, email_id, created_at) select m.recipients[1], m.id, m.created_at from posthaste.email_messages m",
  );
  await client.query(
    `insert into posthaste_private.settings (name, value) values ('default_transport', '"default"') on conflict (name) do update set value = excluded.value`,
  );
  await client.query("vacuum (analyze) posthaste.email_messages");
  await client.query("vacuum (analyze) posthaste_private.recipient_index");
}

/** The first page of each list, and the hundredth (or the last, of shorter ones), of 100 mails each. */
export async function measure(client: pg.ClientBase, lists = LISTS): Promise<Measured[]> {
  const plans: string[] = [];
  client.on("notice", ({ message }) => {
    if (message?.includes("plan:")) plans.push(message);
  });
  await client.query(
    "load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on; set auto_explain.log_level = notice; set auto_explain.log_analyze = off",
  );
  await client.query("set role posthaste_operator");
  const measured: Measured[] = [];
  for (const [name, filter] of Object.entries(lists)) {
    const page = (after: { at: string; id: string } | null) =>
      client.query(
        "select id, to_json(at) #>> '{}' as at from posthaste.email_page($1, 'newest', 100, $2, $3)",
        [JSON.stringify(filter), after?.at ?? null, after?.id ?? null],
      );
    const take = async (label: string, after: { at: string; id: string } | null) => {
      const times: number[] = [];
      let rows = 0;
      for (let n = 0; n < 5; n++) {
        const began = performance.now();
        rows = (await page(after)).rows.length;
        times.push(performance.now() - began);
      }
      plans.length = 0;
      await client.query("set client_min_messages = notice");
      await page(after);
      await client.query("set client_min_messages = warning");
      const milliseconds = times.sort((a, b) => a - b)[2] ?? 0;
      measured.push({ name: `${name}, ${label}`, rows, milliseconds, plan: nodes(plans) });
    };
    await client.query("set client_min_messages = warning");
    await take("first page", null);
    let after: { at: string; id: string } | null = null;
    let pages = 1;
    for (; pages < 100; pages++) {
      const { rows } = await page(after);
      if (rows.length < 100) break;
      after = rows[99];
    }
    if (after) await take(`page ${pages}`, after);
  }
  return measured;
}

/** The scans of the query for mails: what it reads, and how. */
function nodes(plans: readonly string[]): string {
  const plan =
    plans.find((text) => /email_messages m|recipient_index r/.test(text) && text.includes("select p.id")) ??
    "";
  const scans = [
    ...plan.matchAll(/(?:Seq|Index|Index Only|Bitmap Heap|Bitmap Index|Parallel Seq) Scan[^\n(]*/g),
  ].map(([scan]) => scan.trim());
  return [...new Set(scans)].join("; ");
}

if (process.argv[1] === import.meta.filename) {
  const rows = Number(process.argv[2] ?? 1_000_000);
  const server = await startServer({
    shared_buffers: "512MB",
    maintenance_work_mem: "256MB",
    max_wal_size: "4GB",
  });
  try {
    await migrate({ connectionString: server.connectionString });
    const pool = createPool({ connectionString: server.connectionString, applicationName: "scale", max: 1 });
    const client = await pool.connect();
    const began = performance.now();
    await fill(client, rows);
    console.log(`${rows} rows in ${Math.round((performance.now() - began) / 1000)} s`);
    const sizes = await client.query(
      "select indexrelname::text as index, pg_size_pretty(pg_relation_size(indexrelid)) as size from pg_stat_user_indexes where relname in ('email_messages', 'recipient_index') order by pg_relation_size(indexrelid) desc",
    );
    for (const { index, size } of sizes.rows) console.log(`${index}: ${size}`);
    for (const { name, rows: found, milliseconds, plan } of await measure(client)) {
      console.log(
        `${milliseconds.toFixed(1).padStart(7)} ms  ${String(found).padStart(3)} rows  ${name}  [${plan}]`,
      );
    }
    client.release();
    await pool.end();
  } finally {
    await server.close();
  }
}

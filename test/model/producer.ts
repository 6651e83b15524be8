import { type Action, ask, type Group } from "./actions.ts";
import type { Mail } from "./state.ts";
import { enqueue } from "./waiting.ts";

/** What is enqueued; times in seconds from now. */
export interface Request {
  /** Null: without a key. */
  readonly key: number | null;
  readonly lines: readonly [to: readonly number[], cc: readonly number[], bcc: readonly number[]];
  readonly secret: boolean;
  readonly bad: boolean;
  readonly sendIn: number;
  /** After the time of sending; null: no end. */
  readonly expiresIn: number | null;
  readonly maxAttempts: number;
}

const FIELDS = `template => $1 ->> 'template', recipients => array(select jsonb_array_elements_text($1 -> 'to')),
  cc => array(select jsonb_array_elements_text($1 -> 'cc')), bcc => array(select jsonb_array_elements_text($1 -> 'bcc')),
  parameters => $1 -> 'parameters', idempotency_key => $1 ->> 'key', max_attempts => ($1 ->> 'maxAttempts')::int,
  send_at => now() + ($1 ->> 'sendIn')::int * interval '1 second',
  expires_at => now() + ($1 ->> 'expiresIn')::int * interval '1 second'`;

/** One mail by the function. */
export function enqueueOne(_: Group, request: Request): Action {
  const row = rowOf(request);
  return {
    name: `enqueue ${JSON.stringify(request)}`,
    async run(on) {
      const { answer, result, at } = await ask(on, `select posthaste.enqueue(${FIELDS})`, row);
      const got = answer === "done" ? result : "PH001";
      const step = enqueue({
        request: sameness(request),
        mail: born(request, result ?? "", at),
        key: request.key !== null,
        compares: true,
        got,
      });
      return answer === "done" || row.key !== null
        ? { slots: new Map([[row.key ?? result ?? "", step]]) }
        : {};
    },
  };
}

/** Two events of one transaction, in the order of their keys, as producers must who use several. */
export function enqueueTwo(group: Group, requests: readonly [Request, Request]): Action {
  const [first, second] = requests
    .toSorted((a, b) => ((a.key ?? 0) % 4) - ((b.key ?? 0) % 4))
    .map((r) => enqueueOne(group, r));
  const next = second as Action;
  return { ...(first as Action), name: `${first?.name}, then ${next.name}`, next };
}

/** Some with keys by one plain insert, in the order of their keys. */
export function enqueueMany(_: Group, requests: readonly Request[]): Action {
  const keyed = new Map(requests.map((request, index) => [(request.key ?? index) % 4, request]));
  const all = [...keyed].sort(([a], [b]) => a - b).map(([key, request]) => ({ ...request, key }));
  return {
    name: `insert ${JSON.stringify(all)}`,
    async run(on) {
      const { rows } = await on.query(
        `insert into posthaste.email_messages (template, recipients, cc, bcc, parameters, idempotency_key, max_attempts, send_at, expires_at)
         select r.template, r."to", r.cc, r.bcc, r.parameters, r.key, r."maxAttempts", now() + r."sendIn" * interval '1 second',
           now() + r."expiresIn" * interval '1 second'
         from jsonb_to_recordset($1) r(template text, "to" text[], cc text[], bcc text[], parameters jsonb, key text, "maxAttempts" int,
           "sendIn" int, "expiresIn" int)
         order by r.key
         on conflict do nothing
         returning id, idempotency_key, model.micros(now()) as at`,
        [JSON.stringify(all.map(rowOf))],
      );
      const { rows: time } = await on.query("select model.micros(now()) as at");
      const slots = all.map((request) => {
        const key = rowOf(request).key ?? "";
        const made = rows.find(({ idempotency_key }) => idempotency_key === key);
        const mail = born(request, made?.id ?? "", made?.at ?? time[0].at);
        const got: string | null = made?.id ?? null;
        return [key, enqueue({ request: sameness(request), mail, key: true, compares: false, got })] as const;
      });
      return { slots: new Map(slots) };
    },
  };
}

function rowOf(request: Request) {
  const [to, cc, bcc] = request.lines.map((line) => line.map(addressOf)) as [string[], string[], string[]];
  return {
    template: request.secret ? "login-code" : "order-confirmed",
    to: request.bad ? [...to, "no address"] : to,
    cc,
    bcc,
    parameters: request.secret ? { code: "1234" } : {},
    key: request.key === null ? null : `event:${request.key % 4}`,
    maxAttempts: request.maxAttempts,
    sendIn: request.sendIn,
    expiresIn: request.expiresIn === null ? null : Math.max(request.sendIn, 0) + request.expiresIn,
  };
}

/** Two requests with one key are the same when these are. */
function sameness({ lines, secret, bad }: Request): string {
  return JSON.stringify([lines, secret, bad]);
}

function born(request: Request, id: string, at: number): Mail {
  const row = rowOf(request);
  const sendAt = at + request.sendIn * 1e6;
  return {
    id,
    status: request.bad ? "FAILED" : "PENDING",
    attempts: 0,
    deferrals: 0,
    maxAttempts: request.maxAttempts,
    token: null,
    worker: null,
    leaseUntil: null,
    handedOver: false,
    addresses: [...row.to, ...row.cc, ...row.bcc],
    delivered: [],
    refused: [],
    duplicate: false,
    error: request.bad ? "recipient_invalid" : null,
    due: sendAt,
    dueUntil: sendAt,
    sendAt,
    createdAt: at,
    expiresAt: row.expiresIn === null ? null : at + row.expiresIn * 1e6,
    endedAt: request.bad ? at : null,
    bad: request.bad,
    secret: request.secret,
    secretsGone: false,
    ends: [],
    brokenOff: null,
  };
}

function addressOf(n: number): string {
  return `${"abcde"[n % 5]}@x.test`;
}

import { domainToASCII } from "node:url";
import fc from "fast-check";
import { createPool } from "../../src/database/pool.ts";
import { eventually } from "../faults/eventually.ts";
import type { Row } from "../faults/mails.ts";
import { startScene } from "../faults/scene.ts";
import type { AcceptedMessage } from "../smtp-server.ts";
import { request, VICTIM } from "./fields.ts";

/** What became of wild requests. */
export interface ProducerSide {
  readonly requests: number;
  readonly fields: number;
  /** Refusals by SQLSTATE, and ends by status. */
  readonly ends: Readonly<Record<string, number>>;
  readonly messages: number;
  readonly foreignRecipients: number;
  readonly bareLineEnds: number;
  /** Milliseconds that the slowest request took. */
  readonly slowest: number;
  /** Promises that do not hold, each with its request. */
  readonly broken: readonly string[];
}

const TEMPLATE = `
export const subject = ({ subject }) => String(subject ?? "Hello");
export default function Mail({ text }) {
  return <html><body><p>{String(text ?? "Hello")}</p></body></html>;
}
`;
/** What PostgreSQL says of values that are no JSON, no text or no array of ours, before Posthaste sees them. */
const REFUSED = ["23505", "22P02", "22P05", "22003", "22021", "2202E", "54001"];
const HEADERS = [
  ...["message-id", "date", "from", "to", "cc", "reply-to", "subject", "mime-version", "content-type"],
  ...["content-transfer-encoding", "x-posthaste-id", "auto-submitted"],
];

/** Enqueues wild requests as a producer, sends what was taken, and reads every octet that came. */
export async function fuzzProducer(
  t: { after(close: () => Promise<void>): void },
  seed: number,
  requests: number,
): Promise<ProducerSide> {
  const scene = await startScene(t, {
    smtp: { smtpUtf8: true },
    templates: { "wild.tsx": TEMPLATE },
  });
  const worker = await scene.process({ options: { concurrency: 20 } });
  const { database } = scene;
  const url = new URL(database.connectionString);
  url.searchParams.set("options", "-c role=posthaste_producer");
  const producer = createPool({ connectionString: url.href, applicationName: "producer" });
  const ends: Record<string, number> = {};
  const broken: string[] = [];
  let fields = 0;
  let slowest = 0;
  const wild = fc.sample(request, { seed, numRuns: requests });
  const asked = new Map<string, Readonly<Record<string, unknown>>>();
  let next = 0;
  const lane = async () => {
    for (let number = next++; number < wild.length; number = next++) {
      const own = wild[number]!;
      fields += Object.keys(own).length;
      const all: Record<string, unknown> = { template: "wild", recipients: ["ada@x.example"], ...own };
      const names = Object.keys(all);
      const places = names.map((_, index) => `$${index + 1}`);
      const statement =
        number % 2
          ? `insert into posthaste.email_messages (${names.join(", ")}) values (${places.join(", ")}) returning id`
          : `select posthaste.enqueue(${names.map((name, index) => `${name} => $${index + 1}`).join(", ")}) as id`;
      const began = performance.now();
      try {
        const { rows } = await producer.query(statement, Object.values(all));
        asked.set(rows[0]?.id, all);
      } catch (error) {
        const { code = "none", message, detail, hint, where } = error as Record<string, string>;
        ends[code] = (ends[code] ?? 0) + 1;
        const ours = code.startsWith("PH");
        if (!ours && !REFUSED.includes(code)) broken.push(`refused by ${code}: ${message} ${shown(own)}`);
        const told = `${message} ${detail} ${hint} ${where}`;
        if (ours && told.includes(VICTIM) && !own.template && !own.locale && !own.transport)
          broken.push(`an address is told: ${told} ${shown(own)}`);
        if (ours && told.length > 2000) broken.push(`a long error: ${told.slice(0, 300)}`);
      }
      const took = performance.now() - began;
      if (took > 3000) broken.push(`${Math.round(took)} ms: ${shown(own)}`);
      slowest = Math.max(slowest, took);
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]).finally(() => producer.end());
  // A transport or a store that the configuration does not have is waited for, and the row says so.
  await eventually(
    "all mail is at its end, or waits with a reason",
    async () =>
      (
        await database.query(
          "select from posthaste.email_messages where status = 'SENDING' or (status = 'PENDING' and error_code is null) limit 1",
        )
      ).length === 0,
    20_000 + requests * 20,
  );
  await scene.until(await scene.enqueue({ recipient: "last@customer.example" }), "SENT");

  let [foreignRecipients, bareLineEnds] = [0, 0];
  const rows = new Map(
    (await database.query<Row>("select * from posthaste.email_messages")).map((row) => [row.id, row]),
  );
  for (const [id] of asked) {
    const row = rows.get(id);
    const end = [row?.status, row?.error_code].filter(Boolean).join(" ");
    ends[end] = (ends[end] ?? 0) + 1;
    if ((row?.status !== "SENT" && !row?.error_code) || row.error_code === "worker_crashed")
      broken.push(`no end: ${end} ${shown(asked.get(id) ?? {})}`);
  }
  for (const message of scene.server.accepted) {
    const id = /^<([^@]*)@/.exec(message.messageId)?.[1] ?? "";
    const row = rows.get(id);
    const foreign = message.recipients.filter((address) => !row || !ownAddresses(row).has(address));
    foreignRecipients += foreign.length;
    if (foreign.length > 0)
      broken.push(`foreign recipients ${foreign}: ${JSON.stringify(row ?? null).slice(0, 1000)}`);
    const bare = message.raw.toString("latin1").match(/\r(?!\n)|(?<!\r)\n/g)?.length ?? 0;
    bareLineEnds += bare;
    if (row)
      for (const wrong of wrongLines(message, row)) broken.push(`${wrong}: ${shown(asked.get(id) ?? {})}`);
  }
  for (const line of scene.server.sessions.flatMap(({ commands }) => commands))
    if (/[\r\n]/.test(line)) bareLineEnds += 1;
  if (worker.log.text.includes("\u001b")) broken.push("a control character is logged");
  return {
    requests,
    fields,
    ends,
    messages: scene.server.accepted.length,
    foreignRecipients,
    bareLineEnds,
    slowest: Math.round(slowest),
    broken,
  };
}

/** The addresses that this mail may go to, as the wire has them; read in the simplest way, not in ours. */
function ownAddresses(row: Row): Set<string> {
  return new Set(
    [...row.recipients, ...row.cc, ...row.bcc].map((text: string) => {
      const bare = (text.endsWith(">") ? text.slice(text.lastIndexOf("<") + 1, -1) : text).trim();
      const at = bare.lastIndexOf("@");
      return `${bare.slice(0, at)}@${domainToASCII(bare.slice(at + 1))}`;
    }),
  );
}

function wrongLines({ raw }: AcceptedMessage, row: Row): string[] {
  const text = raw.toString("latin1");
  const lines = text.split("\r\n");
  const names = lines
    .slice(0, lines.indexOf(""))
    .flatMap((line) => (/^[ \t]/.test(line) ? [] : [line.slice(0, line.indexOf(":")).toLowerCase()]));
  const asked = Object.keys(row.headers).map((name) => name.toLowerCase());
  const strange = names.filter((name) => !HEADERS.includes(name) && !asked.includes(name));
  const twice = names.filter((name, at) => names.indexOf(name) !== at);
  return [
    ...(lines.some((line) => line.length > 998) ? ["a line of more than 998 octets"] : []),
    ...(strange.length > 0 ? [`headers that nobody asked for: ${strange}`] : []),
    ...(twice.length > 0 ? [`a header twice: ${twice}`] : []),
    ...(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/.test(text) ? ["a control character"] : []),
  ];
}

function shown(value: Readonly<Record<string, unknown>>): string {
  return Object.entries(value)
    .map(([key, field]) => `${key} = ${String(JSON.stringify(field)).slice(0, 300)}`)
    .join(", ");
}

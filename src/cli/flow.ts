import type { QueueStats, QueueTroubles, TransportStatus } from "../database/ledger.ts";
import { ERROR_CODES } from "../errors.ts";
import { since, span, when } from "./when.ts";

/** Whether mail flows, and why not. */
export interface Flow {
  /** `stopped`: something is wrong, and `words` begin with it. `idle`: no worker runs, and none is needed now: what is enqueued next would wait. */
  readonly state: "flowing" | "idle" | "stopped";
  /** Sentences, the most important one first. */
  readonly words: readonly string[];
}

/** Milliseconds that due mail may wait while workers run and nothing is being sent, before that is taken for a fault. */
const PATIENCE = 120_000;

/**
 * Judges the queue in words for a person.
 * @param now milliseconds, as of Date.now()
 */
export function flowOf(stats: QueueStats, troubles: QueueTroubles, now: number): Flow {
  const problems = [
    ...withoutWorker(stats, now),
    ...withoutTransport(troubles),
    ...stats.transports.flatMap((transport) => standstill(transport, stats, now)),
  ];
  if (problems.length === 0) problems.push(...stuck(stats, now));
  const rest = abandoned(troubles, now);
  if (problems.length > 0) return { state: "stopped", words: [...problems, ...rest] };
  if (stats.live_workers === 0)
    return {
      state: "idle",
      words: ["No worker is running, and nothing is due: start one with `posthaste worker`."],
    };
  return { state: "flowing", words: [headline(stats, now), ...hitches(stats), ...rest] };
}

function headline({ due, sending, oldest_due_at }: QueueStats, now: number): string {
  if (due === 0 && sending === 0) return "Mail flows. Nothing is due.";
  const oldest = oldest_due_at === null ? "" : `, the first ${since(oldest_due_at, now)}`;
  return `Mail flows. Being sent: ${sending}, due: ${due}${oldest}.`;
}

function withoutWorker(stats: QueueStats, now: number): readonly string[] {
  if (stats.live_workers > 0) return [];
  const { due, oldest_due_at, sending } = stats;
  const start = "start one with `posthaste worker`.";
  if (due > 0) {
    const oldest = oldest_due_at === null ? "" : `, the first ${since(oldest_due_at, now)}`;
    return [`No worker is running, ${mails(due)} ${due === 1 ? "waits" : "wait"}${oldest}: ${start}`];
  }
  if (sending > 0)
    return [`No worker is running, and one was lost while it sent ${mails(sending)}: ${start}`];
  return [];
}

function withoutTransport({ without_transport, worker_transports }: QueueTroubles): readonly string[] {
  return without_transport.map(
    ({ transport, emails }) =>
      `${mails(emails)} ${emails === 1 ? "waits" : "wait"} for the transport ${JSON.stringify(transport)}, which no worker has (known: ${worker_transports.join(", ")}). ` +
      `Add it to \`transports\` of the workers' configuration; \`posthaste list --transport ${transport} --status PENDING\` shows ${emails === 1 ? "it" : "them"}.`,
  );
}

function abandoned({ abandoned: count, abandoned_until: until }: QueueTroubles, now: number): string[] {
  if (count === 0 || until === null) return [];
  const left = span(Math.max(0, until.getTime() - now));
  return [
    count === 1
      ? `1 mail's worker is gone; it is settled when its lease ends, in ${left}.`
      : `The workers of ${count} mails are gone; they are settled when their leases end, the last in ${left}.`,
  ];
}

function standstill(transport: TransportStatus, stats: QueueStats, now: number): readonly string[] {
  const { name, state, reason } = transport;
  const from = since(transport.since, now);
  if (state === "paused") {
    const why = reason === null ? "" : `: ${reason}`;
    return [
      `Transport ${name} is paused ${from} by ${transport.paused_by}${why}. \`posthaste resume ${name}\` lets it send again.`,
    ];
  }
  if (state === "closed") return [];
  const next =
    stats.live_workers === 0 || transport.next_probe_at === null
      ? "a worker will probe it"
      : `next probe ${when(transport.next_probe_at, now)}`;
  const hint =
    transport.error_code === "transport_misconfigured" ? ` ${ERROR_CODES.transport_misconfigured.hint}` : "";
  return [
    `Transport ${name} is stopped ${from}, ${next}: ${reason ?? transport.error_code ?? "no reason is recorded"}.${hint}`,
  ];
}

function stuck(
  { due, sending, oldest_due_at, live_workers, environment }: QueueStats,
  now: number,
): readonly string[] {
  if (live_workers === 0 || due === 0 || sending > 0 || oldest_due_at === null) return [];
  if (now - oldest_due_at.getTime() < PATIENCE) return [];
  return [
    `Workers run (${live_workers}), but ${mails(due)} that ${due === 1 ? "is" : "are"} due ${due === 1 ? "is" : "are"} not being sent, the first ${since(oldest_due_at, now)}. ` +
      `See the workers' logs; one that is configured for another environment than this database's (${environment}) sends nothing.`,
  ];
}

function hitches({ transports, live_workers, listening_workers }: QueueStats): readonly string[] {
  const failing = transports.filter(({ failures }) => failures > 0);
  return [
    ...failing.map(
      ({ name, failures, reason }) =>
        `Transport ${name} failed ${failures === 1 ? "once" : `${failures} times in a row`}: ${reason}`,
    ),
    ...(live_workers > 0 && listening_workers === 0
      ? [
          "No worker hears notifications (a pooler in between?): mail is found by polling, up to two seconds later.",
        ]
      : []),
  ];
}

function mails(count: number): string {
  return count === 1 ? "1 mail" : `${count} mails`;
}

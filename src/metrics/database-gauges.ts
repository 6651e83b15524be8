import type { Registry } from "@prometheus-io/client";
import type { Measurements } from "../database/measurements.ts";
import type { Reading } from "./cached.ts";
import { codeLabel } from "./labels.ts";
import { createGaugeTable, type Row } from "./table.ts";

interface Figure {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly rows: (measured: Measurements) => readonly Row[];
}

const one = (value: number | null): readonly Row[] => [[{}, value]];
const yes = (value: boolean): number => (value ? 1 : 0);

/** Every figure of the database. Each label's values come from a list in the program, the configuration or the schema. */
const FIGURES: readonly Figure[] = [
  {
    name: "posthaste_emails",
    help: "Mails by status; from 200,000 rows on, SENT and CANCELLED are estimates.",
    labels: ["status"],
    rows: ({ pending, sending, sent, failed, cancelled }) => [
      [{ status: "PENDING" }, pending],
      [{ status: "SENDING" }, sending],
      [{ status: "SENT" }, sent],
      [{ status: "FAILED" }, failed],
      [{ status: "CANCELLED" }, cancelled],
    ],
  },
  { name: "posthaste_due", help: "PENDING mails whose time has come.", rows: ({ due }) => one(due) },
  {
    name: "posthaste_oldest_due_seconds",
    help: "For how long the oldest PENDING mail has been due; 0: none is.",
    rows: ({ oldest_due_seconds }) => one(oldest_due_seconds),
  },
  {
    name: "posthaste_expired_leases",
    help: "SENDING mails whose lease has run out and that nobody has taken back yet.",
    rows: ({ expired_leases }) => one(expired_leases),
  },
  {
    name: "posthaste_possible_duplicates",
    help: "Kept mails that may have arrived twice.",
    rows: ({ possible_duplicates }) => one(possible_duplicates),
  },
  {
    name: "posthaste_failed_recently",
    help: "Mails given up in the last ten minutes by cause, whoever gave them up; at most 10,000 are counted.",
    labels: ["code"],
    rows: ({ failed_recently }) => byCode(failed_recently),
  },
  {
    name: "posthaste_live_workers",
    help: "Worker processes whose connection to the database lives.",
    rows: ({ live_workers }) => one(live_workers),
  },
  {
    name: "posthaste_listening_workers",
    help: "Live workers that notifications reach; the others find mail by polling.",
    rows: ({ listening_workers }) => one(listening_workers),
  },
  {
    name: "posthaste_transport_state",
    help: "1 for the state that a transport is in: closed (it sends), open (the breaker stopped it) or paused (an operator did).",
    labels: ["transport", "state"],
    rows: ({ transports }) =>
      transports.flatMap(({ name, state }) =>
        ["closed", "open", "paused"].map(
          (each): Row => [{ transport: name, state: each }, yes(each === state)],
        ),
      ),
  },
  {
    name: "posthaste_transport_state_seconds",
    help: "For how long a transport has been in its state.",
    labels: ["transport"],
    rows: ({ transports }) => transports.map(({ name, seconds }) => [{ transport: name }, seconds]),
  },
  {
    name: "posthaste_transport_failures",
    help: "Failures of a mail server in a row.",
    labels: ["transport"],
    rows: ({ transports }) => transports.map(({ name, failures }) => [{ transport: name }, failures]),
  },
  {
    name: "posthaste_maintenance_age_seconds",
    help: "Since any worker ran maintenance.",
    rows: ({ maintenance_seconds }) => one(maintenance_seconds),
  },
  {
    name: "posthaste_oldest_snapshot_seconds",
    help: "Age of the oldest transaction that keeps dead rows from being cleaned up.",
    rows: ({ snapshot }) => one(snapshot.seconds),
  },
  {
    name: "posthaste_oldest_snapshot_transactions",
    help: "Transactions since the oldest snapshot (backend_xmin), prepared transaction or replication slot.",
    rows: ({ snapshot }) => one(snapshot.transactions),
  },
  {
    name: "posthaste_oldest_snapshot_sees_all",
    help: "0: sessions of other logins are not seen; grant pg_read_all_stats to the owner of the schema.",
    rows: ({ snapshot }) => one(yes(snapshot.sees_all)),
  },
  {
    name: "posthaste_notification_queue_ratio",
    help: "Full part of PostgreSQL's queue of notifications.",
    rows: ({ notification_queue }) => one(notification_queue),
  },
  {
    name: "posthaste_purge_running",
    help: "1 while a purge has begun and not ended.",
    rows: ({ purge }) => one(yes(purge.running)),
  },
  {
    name: "posthaste_purge_complete",
    help: "1 when the latest purge came through; 0 when its time was over first, or it has not ended.",
    rows: ({ purge }) => one(yes(purge.complete)),
  },
  {
    name: "posthaste_purge_age_seconds",
    help: "Since the latest purge began, last removed something (active), and ended.",
    labels: ["event"],
    rows: ({ purge }) => [
      [{ event: "began" }, purge.began_seconds],
      [{ event: "active" }, purge.active_seconds],
      [{ event: "ended" }, purge.ended_seconds],
    ],
  },
  {
    name: "posthaste_purge_removed",
    help: "What the latest purge has removed so far.",
    labels: ["what"],
    rows: ({ purge }) =>
      ["SENT", "FAILED", "CANCELLED", "keys", "files"].map((what) => [{ what }, purge.removed[what] ?? 0]),
  },
  {
    name: "posthaste_orphan_files",
    help: "Files whose mail is gone that wait to be deleted from their store.",
    rows: ({ purge }) => one(purge.orphan_files),
  },
  {
    name: "posthaste_table_dead_rows",
    help: "Dead rows of a table, as PostgreSQL estimates them.",
    labels: ["table"],
    rows: ({ tables }) => tables.map(({ name, dead_rows }) => [{ table: name }, dead_rows]),
  },
  {
    name: "posthaste_table_bytes",
    help: "Size of a table with its indexes.",
    labels: ["table"],
    rows: ({ tables }) => tables.map(({ name, bytes }) => [{ table: name }, bytes]),
  },
  {
    name: "posthaste_table_vacuum_age_seconds",
    help: "Since a table was vacuumed.",
    labels: ["table"],
    rows: ({ tables }) => tables.map(({ name, vacuum_seconds }) => [{ table: name }, vacuum_seconds]),
  },
];

/** Codes that are not in the registry count together. */
function byCode(counts: Readonly<Record<string, number>>): readonly Row[] {
  const sums = new Map<string, number>();
  for (const [code, count] of Object.entries(counts)) {
    sums.set(codeLabel(code), (sums.get(codeLabel(code)) ?? 0) + count);
  }
  return [...sums].map(([code, sum]) => [{ code }, sum]);
}

/** Makes the gauges of the database; the result fills them. Without a value they are absent, never old or 0. */
export function createDatabaseGauges(registry: Registry): (reading: Reading<Measurements>) => void {
  const tables = FIGURES.map(({ name, help, labels, rows }) => ({
    table: createGaugeTable(registry, name, help, labels),
    rows,
  }));
  const up = createGaugeTable(
    registry,
    "posthaste_database_up",
    "1 when the database answered the latest question.",
  );
  const age = createGaugeTable(
    registry,
    "posthaste_database_reading_age_seconds",
    "How old the figures of the database are; they are read at most every ten seconds, and dropped after a minute.",
  );
  const took = createGaugeTable(
    registry,
    "posthaste_database_reading_seconds",
    "How long reading the figures of the database took.",
  );
  return ({ value, age: seconds, took: duration, ok }) => {
    for (const { table, rows } of tables) table.fill(value === null ? [] : rows(value));
    up.fill(one(yes(ok)));
    age.fill(one(value === null ? null : seconds));
    took.fill(one(value === null ? null : duration));
  };
}

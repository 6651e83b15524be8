import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type pg from "pg";
import { connect } from "../../src/database/pool.ts";
import { EVENTS } from "../../src/log-events.ts";
import { eventually } from "../faults/eventually.ts";
import type { LogLine } from "../faults/log-lines.ts";
import { type OwnDatabase, startOwnDatabase } from "../faults/own-database.ts";
import { startScene } from "../faults/scene.ts";

const MAILS = 300;

/** Has a database refuse what it is asked; what it gives ends that. */
type Trouble = (database: OwnDatabase) => Promise<() => Promise<unknown>>;

const TROUBLES: Readonly<Record<string, Trouble>> = {
  async "becomes read-only"(database) {
    const readOnly = async (value: "on" | "off") => {
      await database.query(`alter system set default_transaction_read_only = ${value}`);
      await database.query("select pg_reload_conf()");
    };
    await readOnly("on");
    return () => readOnly("off");
  },
  async "has no space left on its disk"(database) {
    await database.query("update public.disk set is_full = true");
    return () => database.query("update public.disk set is_full = false");
  },
  async "has no connection to spare"(database) {
    const guests: pg.Client[] = [];
    // Whatever the worker loses is taken by somebody else.
    const fill = async () => {
      for (;;) guests.push(await connect({ ...database, applicationName: "guest" }));
    };
    await assert.rejects(fill, /connections are used up/);
    await guests[0]?.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'posthaste%'",
    );
    await assert.rejects(fill, /connections are used up/);
    return () => Promise.all(guests.map((guest) => guest.end()));
  },
};

/** Lets the tables that a worker writes to refuse it while the disk is full. Before there is any worker: it locks them. */
async function addDisk(database: OwnDatabase): Promise<void> {
  await database.query("create table public.disk as select false as is_full");
  await database.query(`
    create function public.write_to_disk() returns trigger language plpgsql as $$
    begin
      if (select is_full from public.disk) then
        raise exception 'could not extend file: No space left on device' using errcode = 'disk_full';
      end if;
      return null;
    end $$`);
  const tables = [
    "posthaste.email_messages",
    "posthaste.email_attempts",
    "posthaste_private.workers",
    "graphile_worker._private_jobs",
  ];
  for (const table of tables) {
    await database.query(
      `create trigger write_to_disk before insert or update or delete on ${table} for each statement execute function public.write_to_disk()`,
    );
  }
}

describe("while the database", { concurrency: 3 }, () => {
  for (const [what, begin] of Object.entries(TROUBLES)) {
    test(`${what}, no mail is lost, sent twice or charged an attempt, and the log is not flooded`, async (t) => {
      const database = await startOwnDatabase({ max_connections: "40" });
      const scene = await startScene(t, { database });
      await addDisk(database);
      const { log } = await scene.process();
      const ids = await scene.enqueueMany(MAILS);
      await scene.server.messages(30);
      const end = await begin(database);
      await eventually("the worker tries again and again", () => complaints(log.lines).length >= 4, 40_000);
      await end();
      await scene.drained(30_000);
      assert.equal(scene.server.accepted.length, ids.length);
      assert.deepEqual(
        await database.query(
          "select id from posthaste.email_messages where attempt_count <> 1 or possible_duplicate",
        ),
        [],
      );
      for (const [event, times] of Object.entries(
        Object.groupBy(complaints(log.lines), ({ event }) => event),
      )) {
        const pauses = times
          .slice(1)
          .map((line, index) => Date.parse(String(line.time)) - Date.parse(String(times[index]?.time)));
        assert.ok(Math.min(...pauses, 1000) >= 990, `${event}: lines ${pauses.join(", ")} ms apart`);
      }
      await scene.verify();
    });
  }
});

/** Lines about the database, not about a mail. */
function complaints(lines: readonly LogLine[]): LogLine[] {
  return lines.filter(({ event }) => "limited" in EVENTS[event]);
}

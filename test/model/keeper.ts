import { type Action, type Aim, choose, type Group } from "./actions.ts";
import { onAnyMail, POLICY } from "./machine.ts";
import { mailsOf } from "./state.ts";
import { KEEP_KEYS, maintain, purge, purgeKeys } from "./waiting.ts";

/** One run of maintenance: the reaper and all that comes with it. */
export function maintains(group: Group): Action {
  return {
    name: "maintain",
    waitsFor: ["the job", "pause", "resume", "the breaker", "tell"],
    async run(on) {
      const { rows } = await on.query(
        "select model.micros(now()) as at, posthaste_private.maintain($1, '0 seconds', 1000) as report",
        [JSON.stringify(POLICY)],
      );
      const { at, report } = rows[0];
      if (!report.ran) {
        if (group.alone) throw new Error("maintenance does not run");
        return {};
      }
      const { alone, workerIsGone } = group;
      return { everySlot: onAnyMail(maintain({ at, alone, workerIsGone })) };
    },
  };
}

/** Deletes or archives what ended at least `age` hours ago. */
export function purges(
  group: Group,
  { status, hours, archive }: { status: string; hours: number; archive: boolean },
): Action {
  const age = hours * 3_600_000;
  return {
    name: `purge ${status} after ${hours} h`,
    // They count what they removed in one row.
    waitsFor: ["purge"],
    async run(on) {
      const { rows } = await on.query(
        `select model.micros(now()) as at, p.removed from posthaste_private.purge($1, $2 * interval '1 millisecond', $3, $4 * interval '1 millisecond',
           '-infinity', '00000000-0000-0000-0000-000000000000', 1000) p`,
        [status, age, archive, KEEP_KEYS],
      );
      return { everySlot: purge({ at: rows[0].at, status, age, alone: group.alone }) };
    },
  };
}

/** Forgets keys that have expired. */
export function purgesKeys(group: Group): Action {
  return {
    name: "purge keys",
    waitsFor: ["purge"],
    async run(on) {
      const { rows } = await on.query("select model.micros(now()) as at, posthaste_private.purge_keys(1000)");
      return { everySlot: purgeKeys(rows[0].at, group.alone) };
    },
  };
}

/** A job is lost, used up, or in the hands of a pool that is gone: the row does not change. */
export function losesJob(group: Group, { aim, how }: { aim: Aim; how: number }): Action | null {
  const mail = choose(group, mailsOf(group.world), ({ status }) => status === "PENDING", aim);
  if (!mail) return null;
  const ways = [
    "delete from graphile_worker._private_jobs where key = 'posthaste:' || $1",
    "update graphile_worker._private_jobs set attempts = max_attempts where key = 'posthaste:' || $1",
    "update graphile_worker._private_jobs set locked_by = 'gone', locked_at = now(), attempts = 1 where key = 'posthaste:' || $1",
  ];
  return {
    name: `the job of ${mail.id} is ${["deleted", "used up", "stranded"][how % 3]}`,
    async run(on) {
      await on.query(ways[how % 3] ?? "", [mail.id]);
      return {};
    },
  };
}

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type ParsedCronItem, parseCronItems, parseCrontab } from "graphile-worker";

const PURGE = "posthaste/purge_emails";

/**
 * What a worker does by the clock: a purge each night (UTC), made good within a day when no worker ran at that time, and
 * what the application's own crontab says. One that names the purge chooses its time.
 * @param file the application's crontab. Default: `crontab` in the working directory, as Graphile Worker has it
 */
export async function cronItems(file = join(process.cwd(), "crontab")): Promise<ParsedCronItem[]> {
  const own = parseCrontab(await readFile(file, "utf8").catch(emptyWhenAbsent));
  if (own.some(({ task }) => task === PURGE)) return own;
  const purge = {
    task: PURGE,
    match: "17 2 * * *",
    // Before any mail's job: a backlog does not hold it up.
    options: { priority: -100, jobKey: "posthaste:purge", backfillPeriod: 24 * 3_600_000 },
  };
  return [...own, ...parseCronItems([purge])];
}

function emptyWhenAbsent(error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return "";
  throw error;
}

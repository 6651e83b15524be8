import type { Task } from "graphile-worker";
import { currentEngine } from "./send-email.ts";

/**
 * The Graphile Worker task `posthaste/purge_emails`: begins a purge in this process, as the configuration's `retention`
 * says, and ends at once: a job would hold one of the places in which mail is sent. Give it to your own worker with a file
 * `tasks/posthaste/purge_emails.ts`: `export { purgeEmails as default } from "posthaste"`, and a line of its crontab.
 */
export const purgeEmails: Task = async () => {
  (await currentEngine()).purge();
};

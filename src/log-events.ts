type Level = "debug" | "info" | "warn" | "error";

/** How an event is told. */
export interface EventKind {
  readonly level: Level;
  readonly text: string;
  /** At most one line a second: what may happen for each mail or each query while something is down. */
  readonly limited?: true;
}

/** Everything that a process says about itself. Log texts are written here and nowhere else. */
export const EVENTS = {
  worker_started: { level: "info", text: "Sends mail." },
  worker_stopping: { level: "info", text: "Takes no new mail and waits for what is being sent." },
  worker_stopped: { level: "info", text: "Stopped." },
  worker_restarted: {
    level: "warn",
    text: "Graphile Worker stopped unexpectedly; a new one runs in its place.",
  },
  email_sent: { level: "info", text: "Sent." },
  email_retried: { level: "warn", text: "Not sent; will be tried again." },
  email_failed: { level: "error", text: "Failed for good." },
  email_unknown: { level: "warn", text: "Handed over, but no reply came." },
  email_released: { level: "info", text: "Given back before it was sent." },
  email_isolated: {
    level: "warn",
    text: "Rendered in a process of its own: a thread or two workers were lost with this mail in hand, or another one of its template did harm.",
  },
  renderer_lost: {
    level: "error",
    text: "The thread that renders was given up; its mail is rendered in a process of its own, and another thread goes on with the rest.",
  },
  email_lost: { level: "warn", text: "Not sent: the claim was lost to another process." },
  outcome_kept: {
    level: "error",
    text: "An outcome cannot be recorded yet; it is kept and tried again.",
    limited: true,
  },
  outcomes_replayed: { level: "warn", text: "Outcomes that an earlier process had kept are recorded." },
  journal_failed: {
    level: "error",
    text: "The journal cannot be written; outcomes are kept in memory alone.",
    limited: true,
  },
  outcomes_lost: {
    level: "error",
    text: "These were accepted, and neither the database nor the journal could be written: they will be sent again, flagged.",
  },
  claim_failed: { level: "error", text: "Mail cannot be claimed; will be tried again.", limited: true },
  renewal_failed: { level: "error", text: "Leases cannot be renewed; will be tried again.", limited: true },
  maintenance_failed: { level: "error", text: "Maintenance failed; will be tried again.", limited: true },
  maintenance_done: { level: "debug", text: "Maintenance done." },
  emails_taken_over: {
    level: "warn",
    text: "A lost worker had handed mail over, and its outcome is unknown; what is sent again may arrive twice.",
  },
  purge_done: { level: "info", text: "Old mail is removed." },
  purge_cut_short: {
    level: "warn",
    text: "Old mail is removed in part: the time was over, or the worker stops. The next run goes on.",
  },
  purge_failed: { level: "error", text: "Old mail cannot be removed; the next run goes on.", limited: true },
  files_kept: { level: "warn", text: "Files of removed mail cannot be deleted; will be tried again." },
  job_failed: {
    level: "error",
    text: "A job failed unexpectedly; its mail is looked at again.",
    limited: true,
  },
  database_lost: {
    level: "error",
    text: "The database connection is lost; no mail is claimed.",
    limited: true,
  },
  database_back: { level: "info", text: "The database connection is back." },
  listener_lost: { level: "warn", text: "Notifications do not arrive; polling goes on.", limited: true },
  environment_mismatch: {
    level: "error",
    text: "The database belongs to another environment; nothing is sent.",
    limited: true,
  },
  database_moved: {
    level: "warn",
    text: "The database runs on another server than before: is it a copy? posthaste.configure('environment', …) says what it is.",
  },
  transport_opened: { level: "error", text: "The mail server does not serve; its mail waits." },
  transport_closed: { level: "info", text: "The mail server serves again." },
  transport_probed: { level: "warn", text: "The mail server still does not serve.", limited: true },
  worker_blocked: {
    level: "error",
    text: "Nothing moved in this process for longer than timeouts.render; it ends itself, to be started anew.",
  },
  template_threw: {
    level: "error",
    text: "A template threw an error out of turn, in a timer for example; no mail is affected.",
    limited: true,
  },
  templates_loaded: { level: "info", text: "Templates loaded." },
  templates_missing: {
    level: "warn",
    text: "There is no template in the folder, so all mail will fail; is `emails` right, and was the folder deployed?",
  },
  template_broken: { level: "warn", text: "A template cannot be loaded; posthaste check says why." },
  database_started: { level: "info", text: "The embedded PostgreSQL runs." },
  http_started: { level: "info", text: "Answers GraphQL over HTTP." },
  http_stopped: { level: "info", text: "Answers no more." },
  http_failed: { level: "error", text: "A request failed unexpectedly.", limited: true },
  metrics_started: { level: "info", text: "Tells metrics." },
  measuring_failed: {
    level: "warn",
    text: "The database does not tell its figures; metrics lack them.",
    limited: true,
  },
  unexpected: { level: "error", text: "An unexpected error.", limited: true },
} as const satisfies Record<string, EventKind>;

/** An event's name. */
export type EventName = keyof typeof EVENTS;

import "graphile-config";
import type { HttpOptions } from "./http-options.ts";
import type { MetricsOptions } from "./metrics-options.ts";

/** A length of time: `"500ms"`, `"10s"`, `"2m"`, `"1h"`, `"5d"`, or a number of milliseconds. */
export type Duration = string | number;

/** The scope `posthaste` of `graphile.config.ts`. Whatever is left out has the default named here. */
export interface PosthasteOptions {
  /**
   * Sender of mail that names none: `user@host` or `Name <user@host>`. The environment variable
   * POSTHASTE_FROM goes before it. No default: a process that sends must have one.
   */
  from?: string | undefined;
  /** Folder of the templates, relative to the configuration file. Default `./emails`. */
  emails?: string | undefined;
  /**
   * Folder for what the database could not take: a mail that the server accepted while PostgreSQL was away is noted here
   * and recorded later. Relative to the configuration file; must outlive the process. A worker that cannot write there does
   * not start. Default `./.posthaste/journal`.
   */
  journal?: string | undefined;
  /**
   * Mail servers by name (`a-z 0-9 _ -`). The first one is the default, for mail that names none. The
   * environment variable SMTP_URL is `transports.default.url` and goes before the file's; when the file
   * has no `default`, SMTP_URL adds it as the first.
   */
  transports?: { readonly [name: string]: TransportOptions } | undefined;
  /**
   * Stores of attachments by name (`a-z 0-9 _ -`): a storage_ref `invoices:2026/17.pdf` is a file of the store `invoices`.
   * The store `files` is the table posthaste.files and always there. Default: no others.
   */
  stores?: { readonly [name: string]: StoreOptions } | undefined;
  /**
   * How large a message may be as it goes over the wire, where files are a third larger: `"25MB"`, `"10MiB"` or a number of
   * octets. Default `"40MB"`, at least `"64kB"`. What a server says that it takes (SIZE) holds besides.
   */
  maxMessageSize?: string | number | undefined;
  /**
   * Must equal the database's own setting `environment`, so that a copy of the production database does
   * not mail people from a developer's machine. Default `production`.
   */
  environment?: string | undefined;
  /**
   * Only these are mailed, addresses or `@domain`: for staging. Everybody else in the final envelope is refused, and a
   * mail with nobody left is FAILED. Default: everybody.
   */
  allowedRecipients?: readonly string[] | undefined;
  /** Mails that one process sends at once. Default 20, 1 to 1,000. Raise it for servers that answer slowly. */
  concurrency?: number | undefined;
  /**
   * How long a claim holds without renewal; it is renewed each third of it. Default `60s`, at least `3s`.
   * A shorter one frees the mail of a process that hangs sooner; a longer one bears longer pauses.
   */
  lease?: Duration | undefined;
  /** Pause between two runs of maintenance. Default `15s`, `1s` to `30s`. */
  maintenanceInterval?: Duration | undefined;
  /**
   * How long a stopping process waits for the replies of what it is sending. Default `25s`: below the 30 s
   * after which most platforms kill.
   */
  shutdownGrace?: Duration | undefined;
  /** How long each phase of a send may take. */
  timeouts?: TimeoutOptions | undefined;
  /** When and how often a mail is tried again. */
  retry?: RetryOptions | undefined;
  /** When a mail server that does not serve is left alone for a while. */
  breaker?: BreakerOptions | undefined;
  /**
   * What happens to a mail that was handed over without a reply: `resend` sends it again under the same
   * Message-ID (default; a copy may arrive twice), `fail` leaves it to the operator. A template may say
   * otherwise for itself.
   */
  onUnknownOutcome?: "resend" | "fail" | undefined;
  /**
   * How long a FAILED mail keeps its secret parameters, so that it can be retried. Default `24h`; 0 removes
   * them at once.
   */
  secretsAfterFailure?: Duration | undefined;
  /** How long mail stays after its end. A purge each night removes what is older, and so does `posthaste purge`. */
  retention?: RetentionOptions | undefined;
  /** GraphQL over HTTP, for `posthaste serve`. */
  http?: HttpOptions | undefined;
  /** Where a worker serves its metrics for Prometheus, at /metrics. Default: nowhere. */
  metrics?: MetricsOptions | undefined;
}

/** How long mail stays after its end, counted from `finished_at`. Waiting mail is never removed. */
export interface RetentionOptions {
  /** SENT mail. Default `90d`, at least `1h`; null keeps it for ever. */
  sent?: Duration | null | undefined;
  /** FAILED mail. Default `180d`, at least `1h`; null keeps it for ever. */
  failed?: Duration | null | undefined;
  /** CANCELLED mail. Default `30d`, at least `1h`; null keeps it for ever. */
  cancelled?: Duration | null | undefined;
  /** `delete` (default), or `archive`: moved to posthaste.email_archive, which is yours to keep and to empty. */
  mode?: "delete" | "archive" | undefined;
  /**
   * How long an idempotency key outlives its mail. Default `90d`; 0 lets it go with the mail. As long as it is there, the
   * same business event adds no second mail.
   */
  keys?: Duration | undefined;
  /** How long one purge may take; the next one goes on. Default `1h`, 1 s to 23 h. */
  budget?: Duration | undefined;
}

/** One mail server. */
export interface TransportOptions {
  /**
   * `smtp://user:password@host:587` (STARTTLS when offered, always with `?requireTLS=true`) or
   * `smtps://…` (TLS from the start). Percent-encode special characters in user and password.
   */
  url?: string | undefined;
  /** Connections of one process to this server. Default 10, 1 to 1,000. Lower it when the provider limits them. */
  connections?: number | undefined;
  /**
   * Header that carries the mail's id to a provider which deduplicates on it, e.g.
   * `Resend-Idempotency-Key`. Default none.
   */
  idempotencyHeader?: string | null | undefined;
}

/** A store of attachments. */
export interface StoreOptions {
  /**
   * Folder of the files, relative to the configuration file; keys are paths below it. Links in it are not followed, hidden
   * files are not found. If it is a mounted volume, name a folder in it, so that a volume that is not mounted is noticed.
   */
  folder?: string | undefined;
}

/** How long each phase of a send may take; each at least `10ms`. */
export interface TimeoutOptions {
  /** DNS, TCP and TLS. Default `10s`. */
  connect?: Duration | undefined;
  /** From the connection to the server's greeting. Default `10s`. */
  greeting?: Duration | undefined;
  /** The reply to each command, and silence while the body is written. Default `30s`. */
  command?: Duration | undefined;
  /**
   * The reply to the final dot. Default `10m`, which RFC 5321 4.5.3.2.6 asks for. A shorter one makes more
   * mails whose outcome is unknown.
   */
  finalReply?: Duration | undefined;
  /** Rendering one template. Default `10s`. */
  render?: Duration | undefined;
  /** An answer of a store of attachments, and each piece of a file; never more than half of `command`. Default `10s`. */
  store?: Duration | undefined;
}

/** When and how often a mail is tried again. */
export interface RetryOptions {
  /**
   * Delays after the first, second, … failed attempt; the last one repeats. Default
   * `["30s", "2m", "10m", "30m", "2h", "6h"]`. Half of each is fixed, half is random.
   */
  delays?: readonly Duration[] | undefined;
  /** Attempts of a mail that does not say. Default 8, 1 to 100. Failures of the server spend none. */
  maxAttempts?: number | undefined;
  /** Age at which a mail is given up, whatever the reason. Default `5d`. */
  maxAge?: Duration | undefined;
}

/** When a mail server that does not serve is left alone for a while. */
export interface BreakerOptions {
  /** Failures of the server in a row that stop sending to it. Default 3, 1 to 1,000. */
  failures?: number | undefined;
  /** First pause before it is tried with one mail; doubled each time. Default `5s`. */
  probe?: Duration | undefined;
  /** Longest pause between two such trials. Default `60s`, at least `probe`. */
  maxProbe?: Duration | undefined;
}

declare global {
  namespace GraphileConfig {
    interface Preset {
      /** Options of Posthaste, transactional email from PostgreSQL. */
      posthaste?: PosthasteOptions | undefined;
    }
  }
}

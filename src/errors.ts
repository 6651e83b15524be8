/** What an error code means, for people and for programs. */
export interface ErrorCodeEntry {
  /** One sentence that is safe to show to anyone. */
  readonly sentence: string;
  /** True when no further attempt is made on its own; false when the mail waits and is tried again. */
  readonly final: boolean;
  /** What an operator or a developer does about it. */
  readonly hint: string;
}

/**
 * Every value that `email_messages.error_code` and `email_attempts.error_code` can hold.
 * README's table of codes is held against this registry by a test, in both directions.
 */
export const ERROR_CODES = {
  recipient_invalid: {
    sentence: "An address cannot be delivered to as it is written.",
    final: true,
    hint: "Correct the address where it is kept and enqueue a new mail; this one keeps the address as a record.",
  },
  template_not_found: {
    sentence: "No template of that name exists.",
    final: true,
    hint: "Compare the name with the files in the emails folder, deploy the template, then retry.",
  },
  parameters_invalid: {
    sentence: "The parameters do not fit the template.",
    final: true,
    hint: "Mend the template or the caller; after a change of the template, retry.",
  },
  render_failed: {
    sentence: "The template threw an error while it was rendered.",
    final: true,
    hint: "error_message names file and line; mend the template, deploy, then retry.",
  },
  render_timeout: {
    sentence: "The template took longer to render than timeouts.render allows.",
    final: true,
    hint: "Look for a loop or for work that does not end in the template, then retry.",
  },
  attachment_missing: {
    sentence: "An attachment cannot be found.",
    final: true,
    hint: "Put the file back into its store, then retry.",
  },
  attachment_changed: {
    sentence: "An attachment is not the file that it was when the mail was enqueued.",
    final: true,
    hint: "Restore the file, or enqueue a new mail that refers to the new one.",
  },
  attachment_unavailable: {
    sentence: "The store of an attachment cannot be read at the moment.",
    final: false,
    hint: "Nothing is lost and no attempt is spent; error_message says which store and why.",
  },
  message_too_large: {
    sentence: "The message is larger than the server accepts, or than maxMessageSize.",
    final: true,
    hint: "Send a link instead of the attachment, or raise the limit that error_message names.",
  },
  recipient_refused: {
    sentence: "The server refused the recipient for good.",
    final: true,
    hint: "See `refused` for the reply to each address; correct the address or tell the customer.",
  },
  recipient_deferred: {
    sentence: "The server put a recipient off for later.",
    final: false,
    hint: "Nothing to do: only the recipients that were put off are tried again.",
  },
  message_refused: {
    sentence: "The server refused the message for good.",
    final: true,
    hint: "See the reply in error_message: often content, size or sender policy; mend it, then retry.",
  },
  message_deferred: {
    sentence: "The server put the message off for later.",
    final: false,
    hint: "Nothing to do: it is tried again.",
  },
  smtputf8_unsupported: {
    sentence: "The address needs SMTPUTF8, which the server does not offer.",
    final: true,
    hint: "Use a server that offers SMTPUTF8, or an ASCII address of the same person.",
  },
  outcome_unknown: {
    sentence: "The message was handed over, but no reply came: it may or may not have arrived.",
    final: false,
    hint: "With onUnknownOutcome 'resend' it is sent again under the same Message-ID; with 'fail' look into the server's log, then retry or leave it.",
  },
  worker_crashed: {
    sentence: "The process that rendered or sent it died.",
    final: true,
    hint: "error_message says what died: mend the template that it names, or look at the worker's log, then retry.",
  },
  expired: {
    sentence: "It was not sent before expires_at.",
    final: true,
    hint: "Enqueue a new mail if it is still wanted.",
  },
  cancelled: {
    sentence: "It was cancelled before it was sent to everybody.",
    final: true,
    hint: "Enqueue a new mail if it is still wanted.",
  },
  transport_unavailable: {
    sentence: "The mail server cannot be reached or does not serve at the moment.",
    final: false,
    hint: "Nothing is lost; `posthaste status` shows since when and why. An attempt is spent only when the server breaks off this mail alone, again and again, and serves others meanwhile.",
  },
  transport_misconfigured: {
    sentence: "The mail server rejects our credentials, TLS or sender.",
    final: false,
    hint: "Mend the transport's configuration; waiting mail goes out by itself and no attempt is spent.",
  },
  environment_mismatch: {
    sentence: "The database belongs to another environment than the worker's configuration.",
    final: false,
    hint: "Set `environment` in the configuration, or in the database with posthaste.configure('environment', …).",
  },
} as const satisfies Record<string, ErrorCodeEntry>;

/** A code of the registry. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** An error that a person can act on: its message is rule + value + what to do. The command line prints it without a stack. */
export class PosthasteError extends Error {
  override readonly name = "PosthasteError";
  /** Exit code of the command line: 1 failure, 2 wrong usage, 57 the database is newer than the program. */
  readonly exitCode: number;

  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.exitCode = options.exitCode ?? 1;
  }
}

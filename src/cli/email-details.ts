import type { AttemptRow } from "../database/ledger.ts";
import type { EmailRow } from "../database/store.ts";
import { ERROR_CODES, type ErrorCode } from "../errors.ts";
import { oneLine } from "./printable.ts";
import { table } from "./table.ts";
import { span, when } from "./when.ts";

/** Everything about one mail that an operator may need, without its parameters. */
export function emailDetails(
  email: EmailRow,
  attempts: readonly AttemptRow[],
  standing: string | null,
): string {
  const headline = `${email.status}${email.possible_duplicate ? ", may have arrived twice" : ""}  ${email.id}`;
  return [
    [headline, ...(standing === null ? [] : [`  It ${oneLine(standing)}.`]), ...causeOf(email)].join("\n"),
    table(fieldsOf(email), "  "),
    `Recipients\n${table(recipientsOf(email), "  ")}`,
    attempts.length === 0 ? "No attempt was made." : `Attempts\n${table(attemptsTable(attempts), "  ")}`,
  ].join("\n\n");
}

function causeOf({ status, error_code: code, error_message: message }: EmailRow): readonly string[] {
  if (code === null) return [];
  const entry = Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code as ErrorCode] : null;
  return [
    `  ${code}: ${entry?.sentence ?? ""}`.trimEnd(),
    ...(message === null ? [] : [`  ${oneLine(message)}`]),
    ...(entry === null ? [] : [`  ${hintFor(status, code, entry.hint)}`]),
  ];
}

/** While a deploy rolls, nobody has to do anything: another worker has the template. */
function hintFor(status: string, code: string, hint: string): string {
  return code === "template_not_found" && status === "PENDING"
    ? "Nothing to do: a worker that has it will take it."
    : hint;
}

function fieldsOf(email: EmailRow): readonly (readonly string[])[] {
  const held = email.status === "SENDING";
  const fields: readonly (readonly [string, string | null])[] = [
    [
      "template",
      email.template + (email.template_version === null ? "" : ` (version ${email.template_version})`),
    ],
    ["subject", email.subject],
    ["parameters", namesOf(email.parameters)],
    ["locale", email.locale],
    ["from", email.from_address],
    ["reply to", email.reply_to.join(", ")],
    [
      "headers",
      Object.entries(email.headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join("; "),
    ],
    ["attachments", email.attachments.map(({ filename }) => filename).join(", ")],
    ["key", email.idempotency_key],
    ["reference", email.reference],
    ["owner", email.owner],
    ["transport", email.transport_used ?? email.transport ?? "the default one"],
    ["priority", email.priority === 0 ? null : String(email.priority)],
    ["attempts", attemptsOf(email)],
    ["enqueued", when(email.created_at)],
    ["send at", email.send_at.getTime() === email.created_at.getTime() ? null : when(email.send_at)],
    ["next attempt", email.status === "PENDING" ? when(email.next_attempt_at) : null],
    ["expires", timeOf(email.expires_at)],
    ["held by", held ? email.locked_by : null],
    ["held until", held ? timeOf(email.locked_until) : null],
    ["handed over", timeOf(email.handed_over_at)],
    ["sent", timeOf(email.sent_at)],
    ["finished", timeOf(email.finished_at)],
    ["message id", email.message_id],
    ["server said", email.provider_response],
  ];
  return fields.filter((field): field is readonly [string, string] => field[1] !== null && field[1] !== "");
}

/** Names only: values may be codes and links that open an account. */
function namesOf(parameters: unknown): string {
  const names = Object.keys(parameters ?? {});
  return names.length === 0 ? "" : `${names.join(", ")} (values are not shown)`;
}

function attemptsOf({ attempt_count, max_attempts, deferral_count }: EmailRow): string {
  const given = deferral_count === 0 ? "" : `, and ${deferral_count} that did not count against it`;
  return `${attempt_count} of ${max_attempts}${given}`;
}

function timeOf(time: Date | null): string | null {
  return time === null ? null : when(time);
}

function recipientsOf(email: EmailRow): readonly (readonly string[])[] {
  const lines = [
    ...email.recipients.map((mailbox) => ["To", mailbox] as const),
    ...email.cc.map((mailbox) => ["Cc", mailbox] as const),
    ...email.bcc.map((mailbox) => ["Bcc", mailbox] as const),
  ];
  return lines.map(([kind, mailbox]) => [kind, mailbox, fateOf(bareAddress(mailbox), email)]);
}

function fateOf(address: string, email: EmailRow): string {
  if (email.delivered_to.includes(address)) return "accepted by the server";
  const refusal = Object.hasOwn(email.refused, address) ? email.refused[address] : undefined;
  if (refusal) return `refused: ${[refusal.code, refusal.enhanced, refusal.text].filter(Boolean).join(" ")}`;
  return email.status === "PENDING" || email.status === "SENDING" ? "waits" : "not sent";
}

/** As `delivered_to` and `refused` hold it. */
function bareAddress(mailbox: string): string {
  return /<([^<]*)>$/.exec(mailbox)?.[1]?.trimEnd() ?? mailbox;
}

function attemptsTable(attempts: readonly AttemptRow[]): readonly (readonly string[])[] {
  return [
    ["NUMBER", "STARTED", "TOOK", "TRANSPORT", "OUTCOME", "PHASE", "REPLY", "WHY"],
    ...attempts.map((attempt) => [
      String(attempt.number),
      when(attempt.started_at),
      span(attempt.finished_at.getTime() - attempt.started_at.getTime()),
      attempt.transport ?? "",
      attempt.outcome,
      attempt.phase ?? "",
      [attempt.smtp_code, attempt.enhanced_code].filter(Boolean).join(" "),
      [attempt.error_code, attempt.error_message].filter(Boolean).join(": "),
    ]),
  ];
}

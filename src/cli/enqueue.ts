import type { Command } from "commander";
import { PosthasteError } from "../errors.ts";
import { answer } from "./context.ts";
import { future, gather, integer } from "./option-values.ts";
import { oneLine } from "./printable.ts";
import { withLedger } from "./with-ledger.ts";

interface Options {
  readonly parameters?: string;
  readonly param: readonly string[];
  readonly key?: string;
  readonly reference?: string;
  readonly locale?: string;
  readonly owner?: string;
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly replyTo: readonly string[];
  readonly sendAt?: string;
  readonly expiresAt?: string;
  readonly transport?: string;
  readonly priority?: number;
  readonly maxAttempts?: number;
  readonly header: readonly string[];
  readonly json?: boolean;
}

/** Registers `posthaste enqueue`: enqueues one mail and prints its id. Exit code 1 when it is born FAILED. */
export function registerEnqueue(program: Command): void {
  program
    .command("enqueue")
    .description("Enqueues a mail and prints its id.")
    .argument("<template>", "path of a file in emails/ without its ending, e.g. order-confirmed")
    .argument("<recipient>", "user@host or Name <user@host>")
    .option("--parameters <json>", 'what fills the template: {"number": 42}')
    .option("--param <name=value>", "one parameter as text, in addition; repeatable", gather, [])
    .option("--key <key>", "idempotency key: the same key enqueues once, e.g. order-confirmed:42")
    .option("--reference <reference>", "what it is about, e.g. order:42")
    .option("--locale <tag>", "language of the mail, e.g. de-CH")
    .option("--owner <owner>", "whose mail it is: a user or tenant")
    .option("--cc <address>", "repeatable", gather, [])
    .option("--bcc <address>", "repeatable", gather, [])
    .option("--reply-to <address>", "repeatable", gather, [])
    .option("--send-at <time>", "not before: 2h (from now), 2026-01-31T18:00", future)
    .option("--expires-at <time>", "not after", future)
    .option("--transport <name>", "a transport of the configuration (default: its first)")
    .option("--priority <number>", "a smaller number runs sooner (default: 0)", integer(-32_768, 32_767))
    .option("--max-attempts <number>", "(default: retry.maxAttempts of the configuration)", integer(1, 100))
    .option("--header <name=value>", "an extra header, e.g. X-Campaign=spring; repeatable", gather, [])
    .option("--json", "print one JSON document")
    .action(async (template: string, recipient: string, options: Options, command: Command) => {
      const request = requestOf(template, recipient, options);
      const { readEnqueued, templateNote } = await import("./after-enqueue.ts");
      const { email, note } = await withLedger(command, async (ledger) => {
        const id = await ledger.enqueue(request);
        return { email: await readEnqueued(ledger, id, request), note: await templateNote(ledger, template) };
      });
      const { id, status, error_code, error_message } = email;
      answer(options.json, { id, status, error_code, error_message }, id);
      if (note !== null && !options.json) console.error(`posthaste: ${oneLine(note)}`);
      // Only what was born FAILED is an answer to this call: a worker may have been quick with the rest.
      if (error_code !== "recipient_invalid") return;
      process.exitCode = 1;
      const why = [error_code, error_message].filter((part) => part !== null).join(": ");
      if (!options.json) console.error(`posthaste: it is FAILED: ${oneLine(why)}.`);
    });
}

function requestOf(template: string, recipient: string, options: Options) {
  const headers = pairsOf("--header", options.header);
  return {
    template,
    recipient,
    parameters: { ...objectOf(options.parameters ?? "{}"), ...pairsOf("--param", options.param) },
    idempotency_key: options.key,
    reference: options.reference,
    locale: options.locale,
    owner: options.owner,
    cc: options.cc,
    bcc: options.bcc,
    reply_to: options.replyTo,
    send_at: options.sendAt,
    expires_at: options.expiresAt,
    transport: options.transport,
    priority: options.priority,
    max_attempts: options.maxAttempts,
    headers,
  };
}

/** The messages do not repeat what was given: parameters may be secret, and stderr is often kept. */
function objectOf(json: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    value = null;
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new PosthasteError(`--parameters must be a JSON object such as '{"number": 42}'.`, { exitCode: 2 });
}

function pairsOf(option: string, pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)];
      throw new PosthasteError(`${option} must be name=value.`, { exitCode: 2 });
    }),
  );
}

import { basename } from "node:path";
import type { ClaimedEmail } from "../database/store.ts";
import { parseMailbox } from "../message/addresses.ts";
import { composeMessage } from "../message/compose.ts";
import { buildEnvelope } from "../message/envelope.ts";
import type { TemplateCatalog } from "../templates/load.ts";
import type { Transport } from "../transport/transport.ts";
import { judge, type Verdict } from "../transport/verdict.ts";
import { type FileSources, filesOf, watched } from "./attachments.ts";
import { reached } from "./crash-point.ts";
import type { HeldLease } from "./leases.ts";
import {
  type Ending,
  endingOf,
  failedBeforeSending,
  heldBack,
  RELEASED,
  unroutablePositions,
} from "./outcome.ts";
import { type RenderingTools, renderMail } from "./rendering.ts";

/** What an attempt needs. */
export interface AttemptTools extends RenderingTools {
  readonly catalog: TemplateCatalog;
  readonly transports: ReadonlyMap<string, Transport>;
  readonly files: FileSources;
  /** Whether another live worker has a template of this name. */
  readonly templateIsPublished: (name: string) => Promise<boolean>;
}

/** How an attempt ended, and what that says about the transport. */
export interface Attempted {
  readonly ending: Ending;
  /** Null when the transport was not asked. */
  readonly transport: { readonly name: string; readonly verdict: Verdict } | null;
}

/** One attempt to send a claimed mail: render, compose, send. Rejects only on a bug or a lost database. */
export async function attempt(
  email: ClaimedEmail,
  lease: HeldLease,
  tools: AttemptTools,
): Promise<Attempted> {
  const { config } = tools;
  const template = tools.catalog.get(email.template);
  if (!template) return notAsked(await unknownTemplate(email, tools));

  const rendered = await renderMail(template, email, lease.signal, tools);
  if ("ending" in rendered) return notAsked(rendered.ending);

  const name = email.transport ?? config.defaultTransport;
  const transport = tools.transports.get(name);
  if (!transport) {
    const message = `The configuration has no transport ${JSON.stringify(name)}; it has ${[...tools.transports.keys()].join(", ")}.`;
    return notAsked(heldBack("transport_misconfigured", message, "connect"));
  }

  const from = email.from_address ?? config.from;
  // SQL has looked at it, but does not know which characters and domains there are.
  if (parseMailbox(from) === null) {
    const message = "from_address: not user@host or Name <user@host>";
    return notAsked(failedBeforeSending("recipient_invalid", message));
  }
  const envelope = buildEnvelope({
    from,
    recipients: email.recipients,
    cc: email.cc,
    bcc: email.bcc,
    deliveredTo: email.delivered_to,
    refused: Object.keys(email.refused),
    allowed: config.allowedRecipients,
  });
  if (envelope.recipients.length === 0) {
    const [first] = envelope.unroutable;
    // Not an address once its domain was looked at, or not allowed in this environment.
    const code = first?.enhanced === "5.1.3" ? "recipient_invalid" : "recipient_refused";
    return notAsked({
      ...failedBeforeSending(code, first?.reason ?? "nobody is left to send to"),
      refused: unroutablePositions(envelope),
    });
  }

  const files = await filesOf(email, tools.files);
  if ("ending" in files) return notAsked(files.ending);

  const composed = await composeMessage({
    id: email.id,
    messageId: email.message_id,
    from,
    recipients: email.recipients,
    cc: email.cc,
    replyTo: email.reply_to,
    subject: rendered.subject,
    html: rendered.html,
    text: rendered.text,
    headers: email.headers,
    idempotencyHeader: config.transports.get(name)?.idempotencyHeader ?? null,
    date: new Date(),
    attachments: files.attachments,
  });
  if (composed.size > config.maxMessageSize) {
    const text = `The message has ${composed.size} octets; maxMessageSize is ${config.maxMessageSize}.`;
    return notAsked(failedBeforeSending("message_too_large", text));
  }
  const { message, broken } = watched(composed);
  reached("before_send");
  const report = await transport.send({
    from: envelope.from,
    recipients: envelope.recipients,
    message,
    gate: () => lease.handOver(),
    signal: lease.signal,
  });
  // Given back before anything was handed over: not an event that says something about the mail or the server.
  if (lease.signal.aborted && !report.handedOver) return notAsked(RELEASED);
  const withoutFile = broken();
  if (withoutFile !== null) return notAsked(withoutFile);

  const verdict = judge(report, email.attempt_count);
  const ending = endingOf({
    report,
    verdict,
    envelope,
    email,
    transport: name,
    subject: rendered.subject,
    template,
  });
  return { ending, transport: { name, verdict } };
}

function notAsked(ending: Ending): Attempted {
  return { ending, transport: null };
}

/** While a deploy rolls, another worker may know it already: then the mail waits for this one to be replaced. */
async function unknownTemplate(email: ClaimedEmail, tools: AttemptTools): Promise<Ending> {
  const message = `This worker has no template ${JSON.stringify(email.template)}.`;
  return (await tools.templateIsPublished(email.template))
    ? heldBack("template_not_found", `${message} Another one has it, so the mail waits.`, "render")
    : failedBeforeSending("template_not_found", `${message} ${whatIsThere(tools)}`);
}

/** A new file is the usual reason: a worker reads the folder when it starts. */
function whatIsThere({ catalog, config }: AttemptTools): string {
  const names = catalog.list().map(({ name }) => name);
  const shown = names.length > 30 ? [...names.slice(0, 30), "…"] : names;
  const time = catalog.readAt.toISOString().replace(/\.\d+/, "");
  const has = names.length === 0 ? "it was empty" : `has: ${shown.join(", ")}`;
  return `It read ${basename(config.emails)}/ at ${time} and ${has}. If the file is new, restart the worker, then retry.`;
}

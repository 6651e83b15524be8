import { type Command, Option } from "commander";
import type { PosthasteConfig } from "../config.ts";
import { closest } from "../configuration/closest.ts";
import { PosthasteError } from "../errors.ts";
import type { Template } from "../templates/load.ts";
import type { Rendered } from "../templates/render.ts";
import { configurationOf } from "./context.ts";
import { languageTag } from "./option-values.ts";
import { printable } from "./printable.ts";

interface Options {
  readonly sample?: string;
  readonly locale?: string;
  readonly html?: boolean;
  readonly text?: boolean;
  readonly eml?: boolean;
}

type Mail = Extract<Rendered, { ok: true }>;

/** Registers `posthaste render`: prints a template as the worker would send it. Needs no database and no mail server. */
export function registerRender(program: Command): void {
  program
    .command("render")
    .description("Prints a template with a sample, as the worker would send it. Needs no database.")
    .argument("<template>", "path of a file in emails/ without its ending, e.g. order-confirmed")
    .option("--sample <name>", "a name of its samples (default: its PreviewProps)")
    .option("--locale <tag>", "language of the mail, e.g. de-CH", languageTag)
    .addOption(new Option("--html", "only the HTML part").conflicts(["text", "eml"]))
    .addOption(new Option("--text", "only the text part").conflicts("eml"))
    .option("--eml", "the whole message, for a mail program: posthaste render welcome --eml > welcome.eml")
    .action(async (name: string, options: Options, command: Command) => {
      const { config } = await configurationOf(command, { sends: false });
      const mail = await renderSample(config, name, options);
      if (options.eml) process.stdout.write(await messageOf(mail, config.from));
      else if (options.html) process.stdout.write(`${mail.html}\n`);
      else if (options.text) process.stdout.write(`${printable(mail.text)}\n`);
      else process.stdout.write(`${printable(`Subject: ${mail.subject}\n\n${mail.text}`)}\n`);
    });
}

async function renderSample(config: PosthasteConfig, name: string, options: Options): Promise<Mail> {
  const { loadTemplates } = await import("../templates/load.ts");
  const { createIsolation } = await import("../templates/isolation.ts");
  const catalog = await loadTemplates(config.emails, { trial: true });
  await catalog.close();
  const template = catalog.get(name);
  if (!template) {
    const names = catalog.list().map((each) => each.name);
    throw new PosthasteError(
      `There is no template ${JSON.stringify(name)} in ${config.emails}${hint(name, names)}`,
      {
        exitCode: 2,
      },
    );
  }
  const sample = options.sample ?? "default";
  requireSample(template, sample);
  const request = { parameters: {}, sample, locale: options.locale ?? null, timeout: config.timeouts.render };
  const mail = await createIsolation().render(template, request);
  if (mail?.ok) return mail;
  throw new PosthasteError(`${mail?.code}: ${mail?.message}`);
}

function requireSample(template: Template, name: string): void {
  if (template.samples.has(name) || name === "default") return;
  const names = [...template.samples.keys()];
  throw new PosthasteError(`${template.shown} has no sample ${JSON.stringify(name)}${hint(name, names)}`, {
    exitCode: 2,
  });
}

/** `; did you mean "x"?`, or all that there is. */
function hint(name: string, names: readonly string[]): string {
  const near = closest(name, names);
  if (near !== null) return `; did you mean ${JSON.stringify(near)}?`;
  return names.length === 0 ? "." : `; there are ${names.map((each) => JSON.stringify(each)).join(", ")}.`;
}

/** As the worker writes it; only what belongs to one mail (ids, date, recipient) is made up. */
async function messageOf(mail: Mail, from: string): Promise<Buffer> {
  const { composeMessage } = await import("../message/compose.ts");
  const sender = from === "" ? "sender@example.com" : from;
  const id = "00000000-0000-7000-8000-000000000000";
  const message = await composeMessage({
    id,
    messageId: `<${id}@example.com>`,
    from: sender,
    recipients: ["recipient@example.com"],
    cc: [],
    replyTo: [],
    subject: mail.subject,
    html: mail.html,
    text: mail.text,
    headers: {},
    idempotencyHeader: null,
    date: new Date(),
    attachments: [],
  });
  return Buffer.concat(await message.stream().toArray());
}

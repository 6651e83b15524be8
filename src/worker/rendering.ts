import type { PosthasteConfig } from "../config.ts";
import type { ClaimedEmail, Store } from "../database/store.ts";
import type { Log } from "../log.ts";
import type { Instruments } from "../metrics/instruments.ts";
import { createIsolation, type Isolation } from "../templates/isolation.ts";
import type { Template } from "../templates/load.ts";
import { type Rendered, renderTemplate } from "../templates/render.ts";
import { type Ending, failedBeforeSending, RELEASED, releasedFor, triedAgain } from "./outcome.ts";

/** A mail that so many workers died with is rendered in a process of its own. */
const SUSPICIOUS = 2;

/** What rendering mail needs. */
export interface RenderingTools {
  readonly config: PosthasteConfig;
  readonly instruments: Instruments;
  readonly log: Log;
  readonly isolation: Isolation;
  /** Names and versions of templates that did harm there. */
  readonly harmful: Set<string>;
  /** How many workers died with this mail in hand. */
  readonly crashesOf: (id: string) => Promise<number>;
  /** Says that this template is being rendered in this process, until what it returns is called. */
  readonly rendering: (template: string) => () => void;
}

/** What a process has for it of its own. */
export function openRendering(
  store: Store,
  rendering: RenderingTools["rendering"] = () => () => undefined,
): Pick<RenderingTools, "isolation" | "harmful" | "crashesOf" | "rendering"> {
  return { isolation: createIsolation(), harmful: new Set(), crashesOf: store.crashesOf, rendering };
}

/**
 * Renders a mail: in this process, which is quick, unless workers died with it in hand. Then it may be what killed them,
 * or may have been beside it; in a process of its own it shows which, and the others go on.
 */
export async function renderMail(
  template: Template,
  email: ClaimedEmail,
  signal: AbortSignal,
  tools: RenderingTools,
): Promise<Extract<Rendered, { ok: true }> | { readonly ending: Ending }> {
  const timeout = tools.config.timeouts.render;
  const request = { parameters: email.parameters, locale: email.locale, timeout };
  const key = `${template.name} ${template.version}`;
  // What one mail of a template did there, the next would do here.
  if (tools.harmful.has(key) || (await isSuspicious(email, tools))) {
    // The rest of the slots is for mail that nothing is known against.
    if (tools.isolation.waiting >= Math.max(1, Math.floor(tools.config.concurrency / 2))) {
      return { ending: releasedFor(timeout) };
    }
    tools.log("email_isolated", { id: email.id, key: email.idempotency_key, template: template.name });
    const apart = await tools.isolation.render(template, request, signal);
    if (apart === null) return { ending: RELEASED };
    if (apart.ok) return apart;
    if (apart.code === "worker_crashed" && !apart.final)
      return { ending: triedAgain(apart.code, apart.message, "render") };
    if (apart.code === "render_timeout" || apart.code === "worker_crashed") tools.harmful.add(key);
    return { ending: failedBeforeSending(apart.code, apart.message) };
  }
  const began = performance.now();
  const done = tools.rendering(template.name);
  const rendered = await renderTemplate(template, email.parameters, request).finally(done);
  tools.instruments.rendered(template.name, performance.now() - began);
  return rendered.ok ? rendered : { ending: failedBeforeSending(rendered.code, rendered.message) };
}

/** The database is asked only about mail that was tried before: nothing else can have seen a crash. */
async function isSuspicious(email: ClaimedEmail, { crashesOf }: RenderingTools): Promise<boolean> {
  if (email.attempt_count <= 1 && email.deferral_count === 0) return false;
  return (await crashesOf(email.id)) >= SUSPICIOUS;
}

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
  readonly suspects: Suspects;
  /** How many workers died with this mail in hand. */
  readonly crashesOf: (id: string) => Promise<number>;
  /** Says that this template is being rendered in this process, until what it returns is called. */
  readonly rendering: (template: string) => () => void;
}

/** What is known in this process against templates, by name and version. */
interface Suspects {
  /** They did harm in a process of its own. */
  readonly harmful: Set<string>;
  /** How many of their mails are in a process of its own, or wait for it. */
  readonly isolated: Map<string, number>;
  /** Whether workers died with one of their mails is being looked up. */
  readonly lookups: Map<string, Promise<unknown>>;
}

/** What a process has for it of its own. */
export function openRendering(
  store: Store,
  rendering: RenderingTools["rendering"] = () => () => undefined,
): Pick<RenderingTools, "isolation" | "suspects" | "crashesOf" | "rendering"> {
  const suspects: Suspects = { harmful: new Set(), isolated: new Map(), lookups: new Map() };
  return { isolation: createIsolation(), suspects, crashesOf: store.crashesOf, rendering };
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
  const { render: timeout } = tools.config.timeouts;
  const request = { parameters: email.parameters, locale: email.locale, timeout };
  const key = `${template.name} ${template.version}`;
  if (await accuse(key, email, tools)) {
    const { isolated } = tools.suspects;
    return renderApart(key, template, email, request, signal, tools).finally(() => {
      isolated.set(key, (isolated.get(key) ?? 0) - 1);
    });
  }
  const began = performance.now();
  const done = tools.rendering(template.name);
  const rendered = await renderTemplate(template, email.parameters, request).finally(done);
  tools.instruments.rendered(template.name, performance.now() - began);
  return rendered.ok ? rendered : { ending: failedBeforeSending(rendered.code, rendered.message) };
}

async function renderApart(
  key: string,
  template: Template,
  email: ClaimedEmail,
  request: Parameters<Isolation["render"]>[1],
  signal: AbortSignal,
  tools: RenderingTools,
): Promise<Extract<Rendered, { ok: true }> | { readonly ending: Ending }> {
  // The rest of the slots is for mail that nothing is known against.
  if (tools.isolation.waiting >= Math.max(1, Math.floor(tools.config.concurrency / 2))) {
    return { ending: releasedFor(request.timeout) };
  }
  tools.log("email_isolated", { id: email.id, key: email.idempotency_key, template: template.name });
  const apart = await tools.isolation.render(template, request, signal);
  if (apart === null) return { ending: RELEASED };
  if (apart.ok) return apart;
  if (apart.code === "worker_crashed" && !apart.final) {
    return { ending: triedAgain(apart.code, apart.message, "render") };
  }
  if (apart.code === "render_timeout" || apart.code === "worker_crashed") tools.suspects.harmful.add(key);
  return { ending: failedBeforeSending(apart.code, apart.message) };
}

/**
 * Whether workers died with this mail in hand, or with another one of its template that is in a process of its own now:
 * what that does there, this one would do here, before it is known. If so it counts among the isolated ones. The database
 * is asked only about mail that was tried before: nothing else can have seen a crash.
 */
async function accuse(
  key: string,
  email: ClaimedEmail,
  { crashesOf, suspects: { harmful, isolated, lookups } }: RenderingTools,
): Promise<boolean> {
  const count = () => {
    isolated.set(key, (isolated.get(key) ?? 0) + 1);
    return true;
  };
  const before = lookups.get(key);
  if (email.attempt_count > 1 || email.deferral_count > 0) {
    const found = crashesOf(email.id).then((crashes) => crashes >= SUSPICIOUS && count());
    // Mail of the same template that comes meanwhile waits for the answer, and finds it counted.
    const lookup = Promise.allSettled([before, found]);
    lookups.set(key, lookup);
    lookup.then(() => lookups.get(key) === lookup && lookups.delete(key));
    if (await found) return true;
  }
  await before;
  return (harmful.has(key) || (isolated.get(key) ?? 0) > 0) && count();
}

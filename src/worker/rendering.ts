import type { PosthasteConfig } from "../config.ts";
import type { ClaimedEmail } from "../database/store.ts";
import type { Log } from "../log.ts";
import type { Instruments } from "../metrics/instruments.ts";
import { createIsolation, type Isolation, type RenderedApart } from "../templates/isolation.ts";
import type { Template, TemplateCatalog } from "../templates/load.ts";
import type { Rendered } from "../templates/render.ts";
import { createRendererThread, type RendererThread } from "../templates/renderer-thread.ts";
import { type Ending, failedBeforeSending, heldBack, RELEASED, releasedFor, triedAgain } from "./outcome.ts";

/** A mail that so many workers died with is rendered in a process of its own. */
const SUSPICIOUS = 2;

/** Milliseconds that a mail gets in a process of its own while others wait behind it; then it goes behind them. */
const FIRST_TRY = 2_000;

/** What rendering mail needs. */
export interface RenderingTools {
  readonly config: PosthasteConfig;
  readonly instruments: Instruments;
  readonly log: Log;
  readonly rendering: Rendering;
  /** How many workers died with this mail in hand. */
  readonly crashesOf: (id: string) => Promise<number>;
}

/** Where this process renders, and what it knows against templates, by name and version. */
export interface Rendering {
  /** The ordinary case. */
  readonly thread: RendererThread;
  /** For what may do harm, one mail at a time: those that end soon, and those that have shown that they do not. */
  readonly brief: Isolation;
  readonly patient: Isolation;
  /** They did harm in a process of their own. */
  readonly harmful: Set<string>;
  /** How many of their mails are in a process of their own, or wait for it. */
  readonly isolated: Map<string, number>;
  /** Whether workers died with one of their mails is being looked up. */
  readonly lookups: Map<string, Promise<unknown>>;
}

/** Opens what a process renders with; `thread.close` ends it. */
export function openRendering(catalog: TemplateCatalog, log: Log): Rendering {
  return {
    thread: createRendererThread({
      templates: catalog.list(),
      onLost: (templates, reason) => log("renderer_lost", { template: templates.join(", "), reason }),
      onStray: ({ stray, error }) => log("template_threw", { ...stray, error }),
    }),
    brief: createIsolation(),
    patient: createIsolation(),
    harmful: new Set(),
    isolated: new Map(),
    lookups: new Map(),
  };
}

type Result = Extract<Rendered, { ok: true }> | { readonly ending: Ending };

/**
 * Renders a mail: in a thread of this process, which is quick, unless it may do harm there. Workers died with it in hand,
 * or the thread was lost with it: in a process of its own it shows whether it did that or was beside it, and the others go on.
 */
export async function renderMail(
  template: Template,
  email: ClaimedEmail,
  signal: AbortSignal,
  tools: RenderingTools,
): Promise<Result> {
  if (template.broken !== null) return { ending: failedBeforeSending("render_failed", template.broken) };
  const { thread, isolated } = tools.rendering;
  const { render: timeout } = tools.config.timeouts;
  const request = { parameters: email.parameters, locale: email.locale, timeout };
  const key = `${template.name} ${template.version}`;
  if (!(await accuse(key, email, tools))) {
    const here = await thread.render(template, request, signal);
    if (here) {
      tools.instruments.rendered(template.name, here.took);
      return here.rendered.ok
        ? here.rendered
        : { ending: failedBeforeSending(here.rendered.code, here.rendered.message) };
    }
    if (signal.aborted) return { ending: RELEASED };
    count(isolated, key, 1);
  }
  try {
    return await renderApart(key, template, email, request, signal, tools);
  } finally {
    count(isolated, key, -1);
  }
}

async function renderApart(
  key: string,
  template: Template,
  email: ClaimedEmail,
  request: Parameters<Isolation["render"]>[1],
  signal: AbortSignal,
  tools: RenderingTools,
): Promise<Result> {
  const { brief, patient, harmful } = tools.rendering;
  const { timeout } = request;
  // The other slots are for mail that nothing is known against.
  const room = (share: number) => Math.max(1, Math.floor(tools.config.concurrency / share));
  if (brief.waiting >= room(2)) return { ending: releasedFor(timeout) };
  tools.log("email_isolated", { id: email.id, key: email.idempotency_key, template: template.name });
  const first = { ...request, timeout: Math.min(FIRST_TRY, timeout) };
  let apart = await brief.render(template, first, signal);
  if (first.timeout < timeout && isTimeout(apart)) {
    if (patient.waiting >= room(4)) return { ending: releasedFor(timeout) };
    apart = await patient.render(template, request, signal);
  }
  if (apart === null) return { ending: RELEASED };
  if (apart.ok) return apart;
  const { code, message } = apart;
  if (code === "worker_crashed") {
    if (apart.by === "system") return { ending: triedAgain(code, message, "render") };
    if (apart.by === "nobody") return { ending: heldBack(code, message, "render") };
  }
  if (code === "render_timeout" || code === "worker_crashed") harmful.add(key);
  return { ending: failedBeforeSending(code, message) };
}

function isTimeout(apart: RenderedApart | null): boolean {
  return apart?.ok === false && apart.code === "render_timeout";
}

/**
 * Whether workers died with this mail in hand, or with another one of its template that is in a process of its own now:
 * what that does there, this one would do here, before it is known. If so it counts among the isolated ones. The database
 * is asked only about mail that was tried before: nothing else can have seen a crash.
 */
async function accuse(
  key: string,
  email: ClaimedEmail,
  { crashesOf, rendering: { harmful, isolated, lookups } }: RenderingTools,
): Promise<boolean> {
  const before = lookups.get(key);
  if (email.attempt_count > 1 || email.deferral_count > 0) {
    const found = crashesOf(email.id).then((crashes) => crashes >= SUSPICIOUS && count(isolated, key, 1));
    // Mail of the same template that comes meanwhile waits for the answer, and finds it counted.
    const lookup = Promise.allSettled([before, found]);
    lookups.set(key, lookup);
    lookup.then(() => lookups.get(key) === lookup && lookups.delete(key));
    if (await found) return true;
  }
  await before;
  return (harmful.has(key) || (isolated.get(key) ?? 0) > 0) && count(isolated, key, 1);
}

function count(isolated: Map<string, number>, key: string, by: number): true {
  isolated.set(key, (isolated.get(key) ?? 0) + by);
  return true;
}

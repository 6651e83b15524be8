import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { packageRoot } from "../../src/package-root.ts";
import { createIsolation } from "../../src/templates/isolation.ts";
import { loadTemplates } from "../../src/templates/load.ts";
import { renderTemplate } from "../../src/templates/render.ts";
import { createRendererThread } from "../../src/templates/renderer-thread.ts";
import { percentile } from "../bench/statistics.ts";
import { type Account, accountOf } from "./account.ts";
import { onStage } from "./stage.ts";

/** How good mail fared. Milliseconds from enqueue to acceptance. */
export interface Fared extends Account {
  readonly median: number;
  readonly p95: number;
  readonly worst: number;
  /** Of what was not handed over when its worker died: that waits for the end of its lease. */
  readonly worstUnflagged: number;
  /** Most attempts that one of them spent, of the same. */
  readonly attempts: number;
  /** Times that the worker had to be started. */
  readonly starts: number;
}

const LOOP = `export const subject = "Loop";
export default function Loop() { while (true) {} }`;

/**
 * One worker with the times of production, started anew whenever it ends, and ten mails a second for `seconds`; `poison`
 * mails that never end are enqueued with the fiftieth.
 */
export function measurePoison(seconds: number, poison: number): Promise<Fared> {
  const options = { lease: "60s", maintenanceInterval: "15s", timeouts: { render: "10s" } };
  return onStage({ templates: { "loop.tsx": LOOP }, options }, async (scene) => {
    const kept = scene.kept();
    await scene.until(await scene.enqueue({ parameters: { n: 0 } }), "SENT");
    for (let n = 0; n < seconds * 10; n += 1) {
      await scene.enqueue({ parameters: { n } });
      if (n === 50) for (let bad = 0; bad < poison; bad += 1) await scene.enqueue({ template: "loop" });
      await delay(100);
    }
    await scene.drained(600_000);
    const rows = await scene.database.query(
      `select extract(epoch from sent_at - created_at)::float8 * 1000 as waited, attempt_count, possible_duplicate from posthaste.email_messages
       where template = 'plain' and status = 'SENT'`,
    );
    const waits = rows.map(({ waited }) => waited as number);
    return {
      ...(await accountOf(scene)),
      median: percentile(waits, 0.5),
      p95: percentile(waits, 0.95),
      worst: Math.max(...waits),
      worstUnflagged: Math.max(...rows.map((row) => (row.possible_duplicate ? 0 : (row.waited as number)))),
      attempts: Math.max(...rows.map((row) => (row.possible_duplicate ? 0 : (row.attempt_count as number)))),
      starts: kept.workers.length,
    };
  });
}

/** Milliseconds for one mail of `order-confirmed`: with nothing around it, as a worker does it, in another process in a row, and in a fresh one. */
export async function measureIsolation(
  mails: number,
): Promise<{ bare: number; thread: number; inARow: number; fresh: number }> {
  const catalog = await loadTemplates(join(packageRoot, "emails"));
  const template = catalog.get("order-confirmed");
  if (!template) throw new Error("There is no template order-confirmed.");
  const request = { parameters: template.previewProps, locale: null, timeout: 10_000 };
  const timed = async (times: number, work: () => Promise<unknown>): Promise<number> => {
    const began = performance.now();
    await work();
    return (performance.now() - began) / times;
  };
  const thread = createRendererThread({
    templates: [template],
    onLost: () => undefined,
    onStray: () => undefined,
  });
  const inARow = (render: () => Promise<unknown>) => () => Promise.all(Array.from({ length: mails }, render));
  const bare = inARow(() => renderTemplate(template, request.parameters, request));
  const inThread = inARow(() => thread.render(template, request));
  await bare();
  await inThread();
  const isolation = createIsolation();
  const found = {
    bare: await timed(mails, bare),
    thread: await timed(mails, inThread),
    inARow: await timed(
      mails,
      inARow(() => isolation.render(template, request)),
    ),
    fresh: await timed(10, async () => {
      for (let n = 0; n < 10; n += 1) await isolation.render(template, request);
    }),
  };
  await thread.close();
  return found;
}

// What rendering one mail costs, by our way and by React Email's own `render` and `toPlainText`.
import { join } from "node:path";
import { toPlainText as librarysText, render } from "@react-email/render";
import { createElement } from "react";
import { packageRoot } from "../../src/package-root.ts";
import { renderHtml } from "../../src/templates/html.ts";
import { loadTemplates } from "../../src/templates/load.ts";
import { toPlainText } from "../../src/templates/plain-text.ts";
import { answerQuestions } from "./rpc.ts";
import { median } from "./statistics.ts";

/** Milliseconds of processor time for one mail. */
export interface RenderingCost {
  readonly template: string;
  /** Octets of its HTML. */
  readonly size: number;
  readonly html: { readonly library: number; readonly ours: number };
  readonly text: { readonly library: number; readonly ours: number };
}

if (import.meta.main) {
  answerQuestions({
    measure: async ({ rounds, renders }: { rounds: number; renders: number }): Promise<RenderingCost[]> => {
      const catalog = await loadTemplates(join(packageRoot, "emails"));
      const costs: RenderingCost[] = [];
      for (const { name, component, parameters, previewProps } of catalog.list()) {
        const result = parameters?.safeParse(previewProps);
        const props = result?.success ? (result.data as Readonly<Record<string, unknown>>) : {};
        const html = await renderHtml(component, props);
        const steps = [
          () => render(createElement(component, props)),
          () => renderHtml(component, props),
          () => librarysText(html),
          () => toPlainText(html),
        ];
        // One after the other in each round, so that whatever else the machine does meets all of them.
        const times: number[][] = steps.map(() => []);
        for (let round = 0; round <= rounds; round += 1) {
          for (const [index, step] of steps.entries()) {
            const time = await processorTime(step, renders);
            if (round > 0) times[index]?.push(time);
          }
        }
        const [library = 0, ours = 0, libraryText = 0, oursText = 0] = times.map(median);
        costs.push({
          template: name,
          size: Buffer.byteLength(html),
          html: { library, ours },
          text: { library: libraryText, ours: oursText },
        });
      }
      return costs;
    },
    stop: () => undefined,
  });
}

async function processorTime(step: () => unknown, times: number): Promise<number> {
  const before = process.cpuUsage();
  for (let count = 0; count < times; count += 1) await step();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / times;
}

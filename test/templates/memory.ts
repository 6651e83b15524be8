// `node --expose-gc --conditions=posthaste-source test/templates/memory.ts [renders]`: how the memory in use grows over
// that many renders (100,000) of every template and of one with Tailwind. The suite runs a short form.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadTemplates } from "../../src/templates/load.ts";
import { renderTemplate } from "../../src/templates/render.ts";

/** Bytes in use, after each tenth of the renders. */
export interface Growth {
  readonly used: readonly number[];
  /** Between the first tenth and the last. */
  readonly grown: number;
}

const TAILWIND = `import { Body, Head, Html, Tailwind, Text } from "@react-email/components";
export const config = { theme: { extend: { colors: { brand: "#1d5b49" } } } };
export const subject = ({ n }) => "Number " + n;
export default ({ n }) => <Html lang="en"><Tailwind config={config}><Head /><Body>
  <Text className={n % 2 ? "text-brand mt-2 font-bold" : "p-4 text-red-500"}>{n}</Text></Body></Tailwind></Html>;`;

/** Renders all templates in turn with values that no other mail has. Needs `--expose-gc`. */
export async function measureGrowth(renders: number): Promise<Growth> {
  const { gc } = globalThis;
  if (!gc) throw new Error("Run with --expose-gc: what the collector has not looked at yet is no growth.");
  const folder = await mkdtemp(join(tmpdir(), "posthaste-memory-"));
  await writeFile(join(folder, "tailwind.tsx"), TAILWIND);
  const [own, shop] = [
    await loadTemplates(folder),
    await loadTemplates(join(import.meta.dirname, "../../emails")),
  ];
  await rm(folder, { recursive: true });
  const templates = [...own.list(), ...shop.list()];
  const locales = ["en", "de-CH", "ar-EG", null];
  const used: number[] = [];
  for (let n = 0; n <= renders; n += 1) {
    if (n % (renders / 10) === 0 && n > 0) {
      // Twice: what finalizers let go of is collected by the second.
      await gc({ execution: "async" });
      await gc({ execution: "async" });
      used.push(process.memoryUsage().heapUsed);
    }
    const template = templates[n % templates.length];
    if (!template) continue;
    const parameters = { ...template.previewProps, n, customer_name: `Customer ${n}`, number: `N-${n}` };
    const mail = await renderTemplate(template, parameters, {
      locale: locales[n % locales.length] ?? null,
      timeout: 10_000,
    });
    if (!mail.ok) throw new Error(mail.message);
  }
  return { used, grown: (used.at(-1) ?? 0) - (used[0] ?? 0) };
}

if (import.meta.main) {
  const renders = Number(process.argv[2] ?? 100_000);
  const { used, grown } = await measureGrowth(renders);
  const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MB`;
  console.log(
    `${renders} renders; in use after each tenth: ${used.map(megabytes).join(", ")}; grown by ${megabytes(grown)}`,
  );
  process.exitCode = grown < 3 * 2 ** 20 ? 0 : 1;
}

import { loadTemplates, type Template } from "../../templates/load.ts";

/** One line of SQL that enqueues a mail from the given templates; null when none has samples that fill it. */
export async function exampleCall(emails: string): Promise<string | null> {
  const catalog = await loadTemplates(emails);
  await catalog.close();
  const [template] = catalog.list().filter(canBeShown).sort(simplestFirst);
  if (!template) return null;
  const samples = Object.entries(template.previewProps ?? {});
  const needed = samples.filter(([name]) => template.required.includes(name));
  // Without a schema nobody knows which it needs.
  const given = needed.length > 0 ? needed : samples;
  const values = [template.name, "you@example.com", JSON.stringify(Object.fromEntries(given))];
  return `select posthaste.enqueue(${values.map((value) => `'${value.replaceAll("'", "''")}'`).join(", ")});`;
}

function canBeShown({ broken, required, secrets, previewProps }: Template): boolean {
  const samples = Object.keys(previewProps ?? {});
  return broken === null && secrets.length === 0 && required.every((name) => samples.includes(name));
}

function simplestFirst(one: Template, other: Template): number {
  return one.required.length - other.required.length || (one.name < other.name ? -1 : 1);
}

import { loadTemplates, type Template } from "../../templates/load.ts";

/** One line of SQL that enqueues a mail from the given templates; null when none has samples that fill it. */
export async function exampleCall(emails: string): Promise<string | null> {
  const catalog = await loadTemplates(emails);
  await catalog.close();
  const [template] = catalog.list().filter(canBeShown).sort(simplestFirst);
  if (!template) return null;
  const samples = Object.entries(template.previewProps ?? {}).filter(([name]) =>
    template.required.includes(name),
  );
  const values = [template.name, "you@example.com", JSON.stringify(Object.fromEntries(samples))];
  return `select posthaste.enqueue(${values.map((value) => `'${value.replaceAll("'", "''")}'`).join(", ")});`;
}

function canBeShown({ broken, required, secrets, previewProps }: Template): boolean {
  const samples = Object.keys(previewProps ?? {});
  return broken === null && secrets.length === 0 && required.every((name) => samples.includes(name));
}

function simplestFirst(one: Template, other: Template): number {
  return one.required.length - other.required.length || (one.name < other.name ? -1 : 1);
}

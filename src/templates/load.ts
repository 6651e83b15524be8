import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type BrokenBundle, type Bundle, bundleTemplates } from "./bundle.ts";
import { findTemplateFiles, type TemplateFile } from "./find.ts";
import { importTemplate } from "./import.ts";
import { findRawHtml } from "./raw-html.ts";
import { brokenTemplate, type Template } from "./template.ts";
import { tryBundles } from "./trial.ts";
import { watchFiles } from "./watch.ts";

export type { Template } from "./template.ts";

/** The templates of a folder, compiled and imported. */
export interface TemplateCatalog {
  /** By name. What is not in the folder is not there, whatever the name looks like: no path is made from it. */
  get(name: string): Template | undefined;
  /** All of them, the broken ones too, in order of name. */
  list(): readonly Template[];
  /** When the folder was read last. */
  readonly readAt: Date;
  /** Ends watching. What was loaded stays usable. */
  close(): Promise<void>;
}

/**
 * Compiles and imports every template of a folder. A template that does not compile, throws while it is imported
 * or breaks the contract of a template is in the catalogue as broken, with the reason; it hinders no other.
 * @param options.watch reads again what changed on disk, until `close`. Default false. What was loaded before stays
 * in memory: for development.
 * @param options.onReload called after each reading that changed the catalogue
 * @param options.trial run what is new in another process first, so that a module that never ends, or ends its process,
 * does it there and is broken. Default false: a process that is guarded does without
 * @param options.importing told the name of each template whose module runs, until what it returns is called
 * @throws PosthasteError when the folder cannot be read
 */
export async function loadTemplates(
  directory: string,
  options: { watch?: boolean; onReload?: () => void } & ReadingOptions = {},
): Promise<TemplateCatalog> {
  const root = resolve(directory);
  let reading: Reading = { templates: new Map(), inputs: new Set(), at: new Date() };
  // It begins to watch before it reads: what is saved meanwhile is seen.
  const watch = options.watch ? await watchFiles(root, () => reading.inputs, readAgain) : null;
  reading = await readAll(root, reading, options);
  watch?.start();
  return {
    get: (name) => reading.templates.get(name),
    list: () => [...reading.templates.values()],
    get readAt() {
      return reading.at;
    },
    close: async () => watch?.close(),
  };

  async function readAgain(): Promise<void> {
    const before = reading.templates;
    reading = await readAll(root, reading, options);
    if (!isSame(before, reading.templates)) options.onReload?.();
  }
}

interface Reading {
  readonly templates: ReadonlyMap<string, Template>;
  /** Absolute paths of all files that were ever compiled, those of templates that are broken now too. */
  readonly inputs: ReadonlySet<string>;
  readonly at: Date;
}

interface ReadingOptions {
  readonly trial?: boolean;
  readonly importing?: (template: string) => () => void;
}

async function readAll(
  root: string,
  before: Reading,
  { trial = false, importing }: ReadingOptions,
): Promise<Reading> {
  const at = new Date();
  const files = await findTemplateFiles(root);
  const bundles = await bundleTemplates(files, root);
  const templates = new Map<string, Template>();
  const inputs = new Set(before.inputs);
  // Modules are needed on disk only while they are imported.
  const folder = await mkdtemp(join(tmpdir(), "posthaste-templates-"));
  try {
    if (trial) await sortOutHarmful(files, bundles, before, folder);
    for (const file of files) {
      const bundle = bundles.get(file.name);
      if (!bundle) continue;
      for (const input of "inputs" in bundle ? bundle.inputs : []) inputs.add(input);
      const old = before.templates.get(file.name);
      const done = importing?.(file.name);
      templates.set(file.name, await readOne(root, file, bundle, old, join(folder, `${templates.size}.mjs`)));
      done?.();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return { templates, inputs, at };
}

async function sortOutHarmful(
  files: readonly TemplateFile[],
  bundles: Map<string, Bundle | BrokenBundle>,
  before: Reading,
  folder: string,
): Promise<void> {
  const fresh = new Map<string, Bundle>();
  for (const [name, bundle] of bundles) {
    if (!("broken" in bundle) && before.templates.get(name)?.version !== bundle.version)
      fresh.set(name, bundle);
  }
  const harmful = await tryBundles(fresh, folder);
  for (const { name, shown } of files) {
    const reason = harmful.get(name);
    if (reason !== undefined) bundles.set(name, { broken: `${shown}: ${reason}` });
  }
}

async function readOne(
  directory: string,
  file: TemplateFile,
  bundle: Bundle | BrokenBundle,
  old: Template | undefined,
  path: string,
): Promise<Template> {
  if ("broken" in bundle) return brokenTemplate(file, bundle.broken);
  const { code, map, version, inputs } = bundle;
  if (old?.version === version) return old;
  return importTemplate(
    { file, version, code, map, rawHtml: await findRawHtml(inputs, dirname(directory)) },
    path,
  );
}

function isSame(before: ReadonlyMap<string, Template>, after: ReadonlyMap<string, Template>): boolean {
  const same = (template: Template): boolean => {
    const old = before.get(template.name);
    return old?.version === template.version && old.broken === template.broken;
  };
  return before.size === after.size && [...after.values()].every(same);
}

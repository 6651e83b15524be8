import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { loadTemplates, type Template } from "./load.ts";

/** A folder for React Email's preview that holds a page for every sample and locale of every template. */
export interface PreviewFolder {
  readonly path: string;
  /** Ends its keeping up with the templates, and removes it. */
  close(): Promise<void>;
}

/**
 * React Email's preview shows one page for each file, with its PreviewProps. So each sample and locale gets a small
 * file of its own that gives the template what the worker would give it: the parameters after the schema, and the
 * locale. `order-confirmed` is the default; `order-confirmed--free-delivery--de` the rest. The files refer to the
 * templates, which stay where they are and are redrawn at each save.
 * @param directory absolute path of the templates
 */
export async function makePreviewFolder(directory: string): Promise<PreviewFolder> {
  const home = join(dirname(directory), ".posthaste");
  // A name of its own, because two previews of one project may run.
  const path = join(home, `preview-${process.pid}`, "emails");
  let writing: Promise<void> = Promise.resolve();
  const catalog = await loadTemplates(directory, {
    watch: true,
    trial: true,
    onReload: () => {
      // A folder that cannot be written at the moment is written at the next save.
      writing = writing.then(() => write(catalog.list(), path)).catch(() => undefined);
    },
  });
  await mkdir(path, { recursive: true });
  await writeFile(join(home, ".gitignore"), "*\n");
  // Pictures of templates in development: React Email serves them from here.
  await symlink(join(directory, "static"), join(path, "static")).catch(() => undefined);
  await write(catalog.list(), path);
  return {
    path,
    async close() {
      await catalog.close();
      await writing;
      await rm(dirname(path), { recursive: true, force: true });
    },
  };
}

/** The pages of a template: name of the file without its ending → sample and locale. */
export function previewPages({ name, samples, locales }: Template): Map<string, Page> {
  const pages = new Map<string, Page>();
  const [first = null, ...others] = locales;
  for (const sample of new Set(["default", ...samples.keys()])) {
    for (const locale of [first, ...others]) {
      const parts = [sample === "default" ? null : sample, locale === first ? null : locale];
      const words = parts.flatMap((part) => (part === null ? [] : [part.replaceAll(/[^\w-]+/g, "-")]));
      pages.set([name, ...words].join("--"), { sample, locale });
    }
  }
  return pages;
}

interface Page {
  readonly sample: string;
  readonly locale: string | null;
}

async function write(templates: readonly Template[], path: string): Promise<void> {
  const files = new Map<string, string>();
  for (const template of templates) {
    for (const [name, page] of previewPages(template)) {
      const file = join(path, `${name}.tsx`);
      files.set(file, sourceOf(page, relative(dirname(file), template.file)));
    }
  }
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile() && file.endsWith(".tsx") && !files.has(file)) await rm(file);
  }
  for (const [file, source] of files) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, source);
  }
}

function sourceOf({ sample, locale }: Page, template: string): string {
  return `import * as template from ${JSON.stringify(template.startsWith(".") ? template : `./${template}`)};
const file: any = { ...template };
const Template = file.default;
export default function Preview({ locale, ...parameters }: any) {
  const result = file.parameters?.safeParse(parameters) ?? { success: true, data: parameters };
  if (!result.success) throw new Error(${JSON.stringify(`The sample ${sample} does not fit: `)} + result.error.message);
  const given = locale === undefined ? {} : { locale };
  return <Template {...result.data} {...given} />;
}
const samples: any = { default: file.PreviewProps ?? Template.PreviewProps ?? {}, ...file.samples };
Preview.PreviewProps = { ...samples[${JSON.stringify(sample)}], ...${JSON.stringify(locale === null ? {} : { locale })} };
`;
}

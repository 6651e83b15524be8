import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { PosthasteError } from "../errors.ts";

/** A file that is a template by its place and name; nothing is said yet about what is in it. */
export interface TemplateFile {
  /** Path below the templates' folder without its ending, with `/`: `billing/invoice`. */
  readonly name: string;
  /** Absolute path of the .tsx file. */
  readonly file: string;
  /** The path as messages name it: `emails/billing/invoice.tsx`. */
  readonly shown: string;
}

/**
 * Lists `**\/*.tsx` below a folder, in order of name. Files and folders whose name begins with `_` or `.`
 * are parts of templates, not templates; an emails folder with packages of its own keeps them to itself.
 * @throws PosthasteError when the folder does not exist or cannot be read
 */
export async function findTemplateFiles(directory: string): Promise<TemplateFile[]> {
  const found: TemplateFile[] = [];
  try {
    await collect(directory, "", basename(directory), found);
  } catch (error) {
    throw new PosthasteError(
      `The templates' folder must be readable, but ${directory} is not (${(error as NodeJS.ErrnoException).code}). Set \`emails\` in the configuration to the folder that holds the .tsx files.`,
      { cause: error },
    );
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function collect(
  directory: string,
  prefix: string,
  folder: string,
  found: TemplateFile[],
): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (/^[_.]/.test(entry.name) || entry.name === "node_modules") continue;
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await collect(path, `${prefix}${entry.name}/`, folder, found);
    else if (entry.name.endsWith(".tsx") && (entry.isFile() || (await stat(path)).isFile())) {
      const name = prefix + entry.name.slice(0, -".tsx".length);
      found.push({ name, file: path, shown: `${folder}/${name}.tsx` });
    }
  }
}

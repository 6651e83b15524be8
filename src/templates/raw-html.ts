import { readFile } from "node:fs/promises";
import { relative } from "node:path";

/**
 * Places (`emails/_components/rich.tsx:12`) where the author's own files put raw HTML into a mail: React escapes
 * everything else. A place whose line, or the line before, says `raw-html:` and why it is safe is meant.
 * @param files absolute paths of what a template is made of
 * @param root folder that the places are relative to
 */
export async function findRawHtml(files: readonly string[], root: string): Promise<string[]> {
  const places: string[] = [];
  for (const file of files) {
    const lines = (await readFile(file, "utf8")).split("\n");
    for (const [index, line] of lines.entries()) {
      if (!RAW.test(line)) continue;
      const meant = [line, lines[index - 1] ?? ""].some((near) => /raw-html: *\S/.test(near));
      if (!meant) places.push(`${relative(root, file)}:${index + 1}`);
    }
  }
  return places;
}

/** The component Markdown passes HTML in its text on as it is; under another name it is found where it is imported. */
const RAW = /dangerouslySetInnerHTML|<Markdown\b|\bMarkdown as\b/;

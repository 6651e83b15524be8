import assert from "node:assert/strict";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { loadTemplates, type Template, type TemplateCatalog } from "../../src/templates/load.ts";
import { type Rendered, renderTemplate } from "../../src/templates/render.ts";

/** An emails folder of a test's own, outside of the repository. */
export interface Folder {
  readonly path: string;
  write(file: string, source: string): Promise<void>;
  load(options?: { watch?: boolean; onReload?: () => void }): Promise<TemplateCatalog>;
}

/** Makes the folder with these files (path below it → source) and takes it away after the test. */
export async function folderOf(test: TestContext, files: Record<string, string>): Promise<Folder> {
  const home = await mkdtemp(join(tmpdir(), "posthaste-test-"));
  const path = join(home, "emails");
  await mkdir(path);
  test.after(() => rm(home, { recursive: true, force: true }));
  const folder: Folder = {
    path,
    async write(file, source) {
      await mkdir(dirname(join(path, file)), { recursive: true });
      // In one step, so that a watch never sees half of it.
      await writeFile(join(home, "being-written"), source);
      await rename(join(home, "being-written"), join(path, file));
    },
    async load(options) {
      const catalog = await loadTemplates(path, options);
      test.after(() => catalog.close());
      return catalog;
    },
  };
  for (const [file, source] of Object.entries(files)) await folder.write(file, source);
  return folder;
}

/** A template with this body of its component, and what else its file says. */
export function source(body: string, rest = ""): string {
  return `export const subject = "A subject";\n${rest}\nexport default function Mail(props) {\n  ${body}\n}\n`;
}

/** Loads one template, which must not be broken. */
export async function load(test: TestContext, text: string): Promise<Template> {
  const catalog = await (await folderOf(test, { "mail.tsx": text })).load();
  const template = catalog.get("mail");
  assert.ok(template);
  assert.equal(template.broken, null);
  return template;
}

/** Renders with parameters. */
export function draw(
  template: Template,
  parameters: unknown = {},
  locale: string | null = null,
): Promise<Rendered> {
  return renderTemplate(template, parameters, { locale, timeout: 5000 });
}

/** The message of a rendering that must fail with this code. */
export function messageOf(rendered: Rendered, code: string): string {
  if (rendered.ok) assert.fail("it rendered");
  assert.equal(rendered.code, code);
  return rendered.message;
}

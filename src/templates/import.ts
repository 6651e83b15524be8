import { writeSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { TIMED_OUT, within } from "../timeout.ts";
import type { TemplateModule } from "./contract.ts";
import { brokenTemplate, type CompiledTemplate, readTemplate, type Template } from "./template.ts";
import { describeThrown, sourcePositions } from "./thrown.ts";

/** How long the top level of a template's module may take, in milliseconds. */
export const IMPORT_TIMEOUT = 10_000;

/** What is said of a module that does so at its top level. */
export const NEVER_ENDS = `its top level did not end within ${IMPORT_TIMEOUT / 1000} s`;
export const ENDS_PROCESS = "its top level ends the process";

/**
 * Runs the module of a compiled template, from a file that it writes at `path` (`.mjs`) and that is not needed afterwards.
 * A module that throws, does not end or breaks the contract of a template gives a broken one, with the reason.
 */
export async function importTemplate(compiled: CompiledTemplate, path: string): Promise<Template> {
  const { file, version, code, map } = compiled;
  const url = pathToFileURL(path).href;
  const positions = sourcePositions(url, map);
  await writeFile(path, code);
  // Whatever ran it would look as if all were well, and nobody would learn of the file.
  const onExit = (): void => {
    writeSync(2, `posthaste: ${file.shown}: ${ENDS_PROCESS}\n`);
    process.exitCode = 1;
  };
  process.once("exit", onExit);
  try {
    const module = await within(IMPORT_TIMEOUT, import(url) as Promise<TemplateModule>);
    if (module !== TIMED_OUT) return readTemplate(compiled, module, positions);
    return brokenTemplate(file, `${file.shown}: ${NEVER_ENDS}`, version);
  } catch (error) {
    return brokenTemplate(file, describeThrown(error, file.shown, positions), version);
  } finally {
    process.off("exit", onExit);
  }
}

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { types } from "node:util";
import { resolvePreset } from "graphile-config";
import type { PosthasteConfig } from "../config.ts";
import { PosthasteError } from "../errors.ts";
import { TIMED_OUT, within } from "../timeout.ts";
import { closest } from "./closest.ts";
import { guardLoading } from "./guard-loading.ts";
import { withMaskedUrls } from "./masked.ts";
import "./options.ts";
import { validateConfiguration } from "./validate.ts";

/** What to load. */
export interface LoadOptions {
  /** Configuration file, relative to `directory`. Default: `graphile.config.*`, then `src/graphile.config.*`. */
  readonly file?: string | undefined;
  /** Default: the working directory. */
  readonly directory?: string | undefined;
  /** Default: `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Demand a sender and a transport. Default true; false for commands that do not send. */
  readonly sends?: boolean | undefined;
  /** Milliseconds that running the file may take. Default 30,000: it may have to ask for secrets. */
  readonly timeout?: number | undefined;
}

/** A configuration as it was found, with all that is wrong with it. */
export interface LoadedConfiguration {
  /** Defaults filled in. Meant for use only when there are no problems. */
  readonly config: PosthasteConfig;
  /** The whole preset of the file, resolved; null without a file. */
  readonly preset: GraphileConfig.ResolvedPreset | null;
  /** Connection string: DATABASE_URL, else `worker.connectionString` of the file; null without either. */
  readonly databaseUrl: string | null;
  /** Where it was said: `DATABASE_URL`, or the place in the file. */
  readonly databaseUrlName: string;
  /** Absolute path of the configuration file; null when the environment alone configures. */
  readonly file: string | null;
  /** Each one sentence; empty when all is well. */
  readonly problems: readonly string[];
}

/**
 * Loads and validates the configuration. Throws a PosthasteError that lists everything that is wrong,
 * one problem a line.
 */
export async function loadConfiguration(options: LoadOptions = {}): Promise<LoadedConfiguration> {
  const loaded = await readConfiguration(options);
  const [first, ...others] = loaded.problems;
  if (first === undefined) return loaded;
  const place = loaded.file === null ? "The configuration" : displayPath(loaded.file);
  const list = others.length === 0 ? ` ${first}` : loaded.problems.map((line) => `\n- ${line}`).join("");
  throw new PosthasteError(`${place} is not valid:${list}`);
}

/**
 * The same for who wants to report the problems. Throws a PosthasteError only when there is nothing to
 * validate: the file does not exist, does not load, or holds no preset.
 */
export async function readConfiguration(options: LoadOptions = {}): Promise<LoadedConfiguration> {
  const directory = resolve(options.directory ?? ".");
  const environment = options.environment ?? process.env;
  const file = findFile(directory, options.file);
  const preset = file === null ? null : await loadPreset(file, options.timeout ?? 30_000);
  const { config, problems } = validateConfiguration({
    options: preset?.posthaste,
    directory: file === null ? directory : dirname(file),
    environment,
    sends: options.sends ?? true,
  });
  const scope = misspeltScope(preset);
  const inFile = preset?.worker?.connectionString || null;
  return {
    config,
    preset,
    databaseUrl: environment.DATABASE_URL || inFile,
    databaseUrlName: environment.DATABASE_URL || inFile === null ? "DATABASE_URL" : "worker.connectionString",
    file,
    problems: [...scope, ...problems],
  };
}

/** A misspelt scope would be nobody's, and all that is in it would be left out silently. */
function misspeltScope(preset: GraphileConfig.ResolvedPreset | null): readonly string[] {
  return Object.keys(preset ?? {})
    .filter((name) => name !== "posthaste" && closest(name, ["posthaste"]) !== null)
    .map((name) => `${name} is not a scope of the configuration; did you mean "posthaste"?`);
}

const ENDINGS = ["ts", "mts", "cts", "js", "mjs", "cjs"];

function findFile(directory: string, given: string | undefined): string | null {
  if (given !== undefined) {
    const file = resolve(directory, given);
    if (existsSync(file)) return file;
    throw new PosthasteError(`There is no configuration file ${given}; correct the path after --config.`, {
      exitCode: 2,
    });
  }
  const candidates = ["graphile.config", "src/graphile.config"].flatMap((name) =>
    ENDINGS.map((ending) => resolve(directory, `${name}.${ending}`)),
  );
  return candidates.find((candidate) => existsSync(candidate)) ?? null;
}

async function loadPreset(file: string, timeout: number): Promise<GraphileConfig.ResolvedPreset> {
  const tooLong = `${displayPath(file)} cannot be loaded: it, or what it imports, did not end within ${timeout / 1000} s; look for a loop, or for what it waits for.`;
  let preset: GraphileConfig.Preset | null | undefined | typeof TIMED_OUT;
  const ended = guardLoading({
    onExit: `${displayPath(file)} cannot be loaded: it, or what it imports, ends the process.`,
    onBlock: tooLong,
    timeout,
  });
  try {
    preset = await within(timeout, importDefault(file));
  } catch (cause) {
    // An author's error: its place is the most useful thing about it.
    const [message = "", place] =
      cause instanceof Error ? [cause.message, placeOf(cause, file)] : [String(cause)];
    throw new PosthasteError(
      `${displayPath(file)} cannot be loaded: ${withMaskedUrls(message)}${place ?? ""}`,
      { cause },
    );
  } finally {
    ended();
  }
  if (preset === TIMED_OUT) throw new PosthasteError(tooLong);
  try {
    if (preset === null || preset === undefined) throw new Error("it has no default export");
    return resolvePreset({ extends: [preset] });
  } catch (cause) {
    // graphile-config's messages print the preset, passwords included: only their beginning is repeated.
    const reason = withMaskedUrls(String(cause instanceof Error ? cause.message : cause)).slice(0, 200);
    throw new PosthasteError(
      `${displayPath(file)} does not hold a Graphile preset: ${reason}; export one with "export default { posthaste: { … } }".`,
      { cause },
    );
  }
}

/**
 * The file's default export. Not by graphile-config's loader: when the file throws, that one looks for
 * ts-node, says on stderr that it found none, and runs the file again.
 */
async function importDefault(file: string): Promise<GraphileConfig.Preset | null | undefined> {
  let module: { default?: GraphileConfig.Preset };
  try {
    // Unlike import(), require() does not warn of a package.json that names no module type.
    module = createRequire(import.meta.url)(file);
    // Of a CommonJS file all exports are the preset; a file that exports nothing is one by mistake.
    const isCommonJs = !types.isModuleNamespaceObject(module) && Object.keys(Object(module)).length > 0;
    if (isCommonJs && !("default" in module)) return module as GraphileConfig.Preset;
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null)?.code !== "ERR_REQUIRE_ASYNC_MODULE") throw error;
    module = await import(pathToFileURL(file).href);
  }
  return module.default;
}

/** ` (file:line)` of the file's own frame in the error's stack. */
function placeOf(error: Error, file: string): string | null {
  const at = error.stack?.indexOf(`${file}:`) ?? -1;
  const line = at < 0 ? undefined : /^:(\d+)/.exec(error.stack?.slice(at + file.length) ?? "")?.[1];
  return line === undefined ? null : ` (${displayPath(file)}:${line})`;
}

function displayPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith("..") ? file : path;
}

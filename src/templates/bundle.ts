import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isBuiltin, type SourceMapPayload } from "node:module";
import { dirname, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { BuildFailure, BuildResult, Plugin } from "esbuild";
import type { TemplateFile } from "./find.ts";

/** One template compiled to a single JavaScript module. */
export interface Bundle {
  readonly code: string;
  /** Source map whose sources are relative to the parent of the templates' folder: `emails/x.tsx`. */
  readonly map: SourceMapPayload;
  /** Hash of the contents of every file that went into it and of the compiler's version: 16 hex digits. */
  readonly version: string;
  /** Absolute paths of the files that went into it. */
  readonly inputs: readonly string[];
}

/** A template that did not compile. */
export interface BrokenBundle {
  /** `emails/x.tsx:12:5: what the compiler says`, for the first few errors. */
  readonly broken: string;
}

/**
 * Compiles every template into a module of its own; what one of them does wrong is said of that one alone.
 * All are compiled in one go, which is quick; the compiler gives nothing at all when one file is faulty, so then
 * each is compiled by itself.
 */
export async function bundleTemplates(
  files: readonly TemplateFile[],
  directory: string,
): Promise<Map<string, Bundle | BrokenBundle>> {
  try {
    return await bundle(files, directory);
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    if (files.length === 1 && files[0]) {
      return new Map([[files[0].name, { broken: describeBuildFailure(error) }]]);
    }
  }
  const each = new Map<string, Bundle | BrokenBundle>();
  for (const file of files) {
    for (const [name, result] of await bundleTemplates([file], directory)) each.set(name, result);
  }
  return each;
}

async function bundle(files: readonly TemplateFile[], directory: string): Promise<Map<string, Bundle>> {
  // Loaded when it is first needed: most commands compile nothing.
  const esbuild = await import("esbuild");
  const root = dirname(directory);
  const result = await esbuild.build({
    entryPoints: files.map(({ name, file }) => ({ in: file, out: name })),
    absWorkingDir: root,
    // Nothing is written; a folder beside the sources makes the paths in the source maps short.
    outdir: root,
    write: false,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22",
    jsx: "automatic",
    // Without this the compiler adds the condition "module" to its own resolving and finds other files than Node does.
    conditions: [],
    // A host's tsconfig.json is made for its own build; `"jsx": "preserve"` there would leave JSX in the output.
    tsconfigRaw: "{}",
    plugins: [packagesAsFileUrls],
    sourcemap: "external",
    sourcesContent: false,
    metafile: true,
    logLevel: "silent",
  });
  const bundles = new Map<string, Bundle>();
  for (const { name } of files) bundles.set(name, await readOutput(name, root, result, esbuild.version));
  return bundles;
}

/**
 * Leaves packages out of the bundle, by the absolute URL of the very file that Node would load, so that templates,
 * React Email and the renderer share one React. They are looked for from the template's folder first, then from
 * ours. What is not below node_modules (a package of the same workspace, `#imports`) may be TypeScript: it goes in.
 */
const packagesAsFileUrls: Plugin = {
  name: "packages-as-file-urls",
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, async (args) => {
      if (args.pluginData === "resolving") return undefined;
      if (isBuiltin(args.path)) return { path: args.path, external: true };
      for (const resolveDir of [args.resolveDir, import.meta.dirname]) {
        const { kind, importer } = args;
        const found = await build.resolve(args.path, { resolveDir, kind, importer, pluginData: "resolving" });
        if (found.errors.length > 0) continue;
        if (!/[\\/]node_modules[\\/]/.test(found.path)) return { path: found.path };
        return { path: pathToFileURL(found.path).href, external: true };
      }
      return {
        errors: [{ text: `Cannot find the package "${args.path}"; install it beside the templates.` }],
      };
    });
  },
};

async function readOutput(
  name: string,
  root: string,
  result: BuildResult<{ write: false; metafile: true }>,
  compiler: string,
): Promise<Bundle> {
  const text = (ending: string): string =>
    result.outputFiles.find(({ path }) => path === resolve(root, name + ending))?.text ?? "";
  const map = JSON.parse(text(".js.map")) as SourceMapPayload;
  const inputs = Object.keys(result.metafile.outputs[`${name}.js`]?.inputs ?? {}).sort();
  const hash = createHash("sha256").update(`esbuild ${compiler}\0`);
  // Relative paths: the same sources have the same version on every machine.
  for (const input of inputs) {
    hash.update(`${input}\0`).update(await readFile(resolve(root, input)));
  }
  return {
    code: text(".js"),
    map: {
      ...map,
      sources: map.sources.map((source) => relative(root, resolve(root, dirname(name), source))),
    },
    version: hash.digest("hex").slice(0, 16),
    inputs: inputs.map((input) => resolve(root, input)),
  };
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && "errors" in error && Array.isArray(error.errors);
}

function describeBuildFailure({ errors }: BuildFailure): string {
  const lines = errors.slice(0, 3).map(({ location, text }) => {
    return location ? `${location.file}:${location.line}:${location.column + 1}: ${text}` : text;
  });
  if (errors.length > lines.length) lines.push(`and ${errors.length - lines.length} more`);
  return lines.join("; ");
}

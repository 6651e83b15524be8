import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { aptWithNewList } from "../debian-package.ts";

const CACHE = join(import.meta.dirname, "../../node_modules/.cache/promtool");
const MISSING =
  "promtool, Prometheus' own checker of rules, is missing. Install it (Debian, Ubuntu: apt-get install prometheus; others: https://prometheus.io/download) and see that it is on the PATH.";

/**
 * Runs promtool. Where it is missing and may be had from Debian's package `prometheus`, it is taken out of that package,
 * without installing it: that would start a server.
 */
export function promtool(...args: readonly string[]): { code: number | null; output: string } {
  const run = spawnSync(program(), args, { encoding: "utf8", timeout: 60_000 });
  return { code: run.status, output: `${run.stdout}${run.stderr}` };
}

let found: string | undefined;

function program(): string {
  found ??= onPath() ?? unpacked();
  return found;
}

function onPath(): string | undefined {
  return [join(CACHE, "promtool"), "promtool"].find(
    (candidate) => spawnSync(candidate, ["--version"]).status === 0,
  );
}

function unpacked(): string {
  const directory = mkdtempSync(join(tmpdir(), "posthaste-promtool-"));
  try {
    if (!aptWithNewList(["download", "prometheus"], { cwd: directory })) throw new Error(MISSING);
    const archive = readdirSync(directory).find((file) => file.endsWith(".deb")) ?? "";
    spawnSync("dpkg-deb", ["-x", archive, "."], { cwd: directory });
    const binary = join(directory, "usr/bin/promtool");
    if (!existsSync(binary)) throw new Error(MISSING);
    mkdirSync(CACHE, { recursive: true });
    spawnSync("cp", [binary, join(CACHE, `promtool.${process.pid}`)]);
    renameSync(join(CACHE, `promtool.${process.pid}`), join(CACHE, "promtool"));
    return join(CACHE, "promtool");
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

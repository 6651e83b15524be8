import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname } from "node:path";

const file = findPackageJSON(import.meta.url) ?? "package.json";

/** Absolute path of the installed package (in this repository: of its root), where `sql/` lies. */
export const packageRoot: string = dirname(file);

/** The version in package.json. */
export const version: string = (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;

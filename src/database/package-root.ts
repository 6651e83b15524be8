import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Folder of this package: the nearest one above with a package.json, from the source as well as from dist/src. */
export const packageRoot: string = findPackageRoot();

/** Version of this program, from its package.json. */
export const packageVersion: string = JSON.parse(
  readFileSync(join(packageRoot, "package.json"), "utf8"),
).version;

function findPackageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) {
    if (folder === dirname(folder)) throw new Error(`No package.json above ${import.meta.url}`);
    folder = dirname(folder);
  }
  return folder;
}

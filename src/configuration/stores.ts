import { resolve } from "node:path";
import type { StoreSettings } from "../config.ts";
import { text } from "./rules.ts";
import type { Section } from "./section.ts";

/** Reads the stores of attachments. Folders are relative to `directory`. */
export function readStores(
  section: Section,
  directory: string,
  problems: string[],
): ReadonlyMap<string, StoreSettings> {
  const stores = new Map<string, StoreSettings>();
  for (const name of section.names()) {
    const fields = section.section(name);
    const place = `posthaste.stores.${name}`;
    if (name === "files") {
      problems.push(`${place} is the table posthaste.files and always there; give this store another name.`);
    } else if (!/^[a-z][a-z0-9_-]{0,62}$/.test(name)) {
      problems.push(
        `posthaste.stores: a name must be a letter of a-z and up to 62 more of a-z, 0-9, _ and -; received ${JSON.stringify(name)}.`,
      );
    } else if (!fields.names().includes("folder")) {
      problems.push(`${place}.folder is missing; set it to the folder of its files.`);
    }
    stores.set(name, { folder: resolve(directory, fields.option("folder", text, ".")) });
  }
  return stores;
}

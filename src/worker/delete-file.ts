import type { PosthasteConfig } from "../config.ts";
import type { Retention } from "../database/retention.ts";
import { PosthasteError } from "../errors.ts";
import { removeFromFolder } from "../stores/remove.ts";

/** Deletes a file from its store; already gone is fine. Rejects when the store cannot do it now. */
export type DeleteFile = (storageRef: string) => Promise<void>;

/** Deletes from the table posthaste.files and from the folders of the configuration. */
export function createDeleteFile(config: PosthasteConfig, retention: Retention): DeleteFile {
  return async (storageRef) => {
    const colon = storageRef.indexOf(":");
    const [name, key] = [storageRef.slice(0, colon), storageRef.slice(colon + 1)];
    if (name === "files") return retention.deleteFile(key);
    const store = config.stores.get(name);
    // Another worker may have it; and one who adds it to the configuration finds the file still noted.
    if (store === undefined)
      throw new PosthasteError(
        `The configuration has no store ${JSON.stringify(name)}; add it to posthaste.stores.`,
      );
    await removeFromFolder(store.folder, key);
  };
}

import type { PosthasteConfig } from "../config.ts";
import { folderProblem } from "../stores/folder.ts";
import { type Finding, fine, wrong } from "./check-findings.ts";

/** Looks whether the folders of the stores of attachments can be read. */
export function checkStores(config: PosthasteConfig): Promise<readonly Finding[]> {
  return Promise.all(
    [...config.stores].map(async ([name, { folder }]) => {
      const problem = await folderProblem(folder);
      const hint = "Make the folder, correct posthaste.stores, or give this user the right to read it.";
      return problem === null
        ? fine(`store ${name}`, `${folder} can be read.`)
        : wrong(`store ${name}`, problem, hint);
    }),
  );
}

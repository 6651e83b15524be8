import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

// Runs modules one after the other, and says after each that it has ended, whether well or not. One that never lets go
// would outlive a parent that is killed, so a thread looks after it.
const guard = new URL(`./renderer-guard${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);
const guarded = new Promise((resolve) => {
  new Worker(guard, { workerData: { parent: process.ppid } }).once("online", resolve);
});
process.once("message", async (paths: readonly string[]) => {
  await guarded;
  for (const path of paths) {
    await import(pathToFileURL(path).href).catch(() => undefined);
    process.send?.("ended");
  }
});
process.on("disconnect", () => process.exit());

import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import type { PosthasteOptions } from "../../src/index.ts";
import { type Scene, startScene } from "../faults/scene.ts";
import { bytesOf } from "../message/files.ts";
import type { SmtpServerOptions } from "../smtp-server.ts";

/** The file that is there: `invoices:17.pdf`. */
export const INVOICE = bytesOf(300_000);

/** A scene with a folder of invoices, in which `17.pdf` is. */
export async function sceneWithFolder(
  t: TestContext,
  setting: {
    smtp?: SmtpServerOptions;
    options?: PosthasteOptions;
    templates?: Readonly<Record<string, string>>;
  } = {},
): Promise<{ scene: Scene; folder: string }> {
  const folder = join(await realpath(await mkdtemp(join(tmpdir(), "posthaste-files-"))), "invoices");
  t.after(() => rm(dirname(folder), { recursive: true, force: true }));
  await mkdir(folder);
  await writeFile(join(folder, "17.pdf"), INVOICE);
  const options = { stores: { invoices: { folder } }, ...setting.options };
  const scene = await startScene(t, { ...setting, options });
  return { scene, folder };
}

/** One attachment, as enqueue() takes it. */
export function attached(storage_ref: string, more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify([
    { filename: "Rechnung März.pdf", content_type: "application/pdf", storage_ref, ...more },
  ]);
}

/** Keeps a file in the database; its storage_ref. */
export async function put(scene: Scene, bytes: Buffer): Promise<string> {
  const [row] = await scene.database.query(
    "select posthaste.put_file('r.pdf', 'application/pdf', $1) as ref",
    [bytes],
  );
  return row.ref;
}

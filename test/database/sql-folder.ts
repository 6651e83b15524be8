import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A folder of SQL files of a test's own: `{ "migrations/000001-a.sql": "create …" }`. */
export interface SqlFolder {
  readonly path: string;
  /** Writes or overwrites files; null removes one. */
  write(files: Readonly<Record<string, string | null>>): Promise<void>;
}

/** Makes the folder, removed after the test. */
export async function sqlFolder(
  t: { after(callback: () => Promise<void>): void },
  files: Readonly<Record<string, string>> = {},
): Promise<SqlFolder> {
  const path = await mkdtemp(join(tmpdir(), "posthaste-sql-"));
  t.after(() => rm(path, { recursive: true, force: true }));
  for (const folder of ["migrations", "functions"]) await mkdir(join(path, folder));
  const folder: SqlFolder = {
    path,
    async write(changed) {
      for (const [name, text] of Object.entries(changed)) {
        const file = join(path, name);
        await mkdir(dirname(file), { recursive: true });
        if (text === null) await rm(file);
        else await writeFile(file, text);
      }
    },
  };
  await folder.write(files);
  return folder;
}

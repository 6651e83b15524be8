import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { PosthasteError } from "../errors.ts";
import { packageRoot } from "../package-root.ts";

/** One numbered, frozen file of sql/migrations. */
export interface Migration {
  readonly id: number;
  readonly slug: string;
  /** File name, e.g. `000001-email-messages.sql`. */
  readonly file: string;
  readonly text: string;
  /** Of the text with its line ends as \n, so that a checkout on Windows is not a change. */
  readonly hash: string;
  /** It holds only roles, grants and policies: left out, and not recorded, with --no-roles. */
  readonly roles: boolean;
}

/** All files of sql/functions, which are applied together. */
export interface Functions {
  readonly files: readonly { readonly file: string; readonly text: string }[];
  /** Of all texts as they are applied, so it differs between with and without roles. */
  readonly hash: string;
}

/** What the folder sql/ holds. */
export interface SqlFiles {
  /** In the order of their numbers. */
  readonly migrations: readonly Migration[];
  /** In the order of their names; without roles the lines from `--! roles` to `--! end` are dropped. */
  functions(roles: boolean): Functions;
}

/** Reads sql/ of this package, or another folder with `migrations` and `functions` below it (tests). */
export async function readSqlFiles(directory: string = join(packageRoot, "sql")): Promise<SqlFiles> {
  const migrations = (await readFolder(join(directory, "migrations"))).map(toMigration);
  for (const [index, migration] of migrations.entries()) {
    const previous = migrations[index - 1];
    if (previous?.id === migration.id) {
      throw new PosthasteError(
        `Each migration has a number of its own: ${previous.file} and ${migration.file} share one. Renumber the newer one.`,
      );
    }
  }
  const files = await readFolder(join(directory, "functions"));
  return {
    migrations,
    functions(roles) {
      const chosen = roles ? files : files.map(({ file, text }) => ({ file, text: withoutRoles(text) }));
      return { files: chosen, hash: digest(chosen.map(({ file, text }) => `${file}\n${text}`).join("\0")) };
    },
  };
}

async function readFolder(folder: string): Promise<{ file: string; text: string }[]> {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw new PosthasteError(`Posthaste's SQL files are not in ${folder}: install the package again.`, {
      cause,
    });
  });
  const files = names.filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(
    files.map(async (file) => ({
      file,
      text: (await readFile(join(folder, file), "utf8")).replaceAll("\r\n", "\n"),
    })),
  );
}

function toMigration({ file, text }: { file: string; text: string }): Migration {
  const [, number, slug] = /^(\d{6})-([a-z0-9-]+)\.sql$/.exec(file) ?? [];
  if (!number || !slug || Number(number) === 0) {
    throw new PosthasteError(
      `A migration is named NNNNNN-slug.sql, from 000001 on: ${file} is not. Rename it.`,
    );
  }
  return {
    id: Number(number),
    slug,
    file,
    text,
    hash: digest(text),
    roles: /^--! roles\s*$/m.test(text.split("\n", 1)[0] ?? ""),
  };
}

function withoutRoles(text: string): string {
  return text.replace(/^--! roles[^\n]*\n[\s\S]*?^--! end[^\n]*\n?/gm, "");
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

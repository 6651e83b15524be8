import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageRoot, version } from "../../src/package-root.ts";

/** A build of Posthaste that can be started beside this one. */
export interface Build {
  /** Where its package.json is. */
  readonly root: string;
  readonly version: string;
}

/** This program as it is. */
export const THIS_VERSION: Build = { root: packageRoot, version };

const CLAIM = "functions/claim.sql";

/**
 * Makes the version after this one: the same program with a higher number, two more migrations (a column with an index,
 * and a column of another table) and a `claim` with one more argument. It is this program's own next release, as far as a
 * deploy can tell.
 */
export async function makeNextVersion(t: { after(close: () => Promise<void>): void }): Promise<Build> {
  const root = await mkdtemp(join(tmpdir(), "posthaste-next-"));
  t.after(() => rm(root, { recursive: true, force: true }));
  for (const part of ["src", "sql", "tasks"])
    await cp(join(packageRoot, part), join(root, part), { recursive: true });
  await symlink(join(packageRoot, "node_modules"), join(root, "node_modules"));

  const [major = 0, minor = 0] = version.split(".").map(Number);
  const next = `${major}.${minor + 1}.0`;
  const manifest = JSON.parse(await readFile(join(packageRoot, "package.json"), "utf8"));
  await writeFile(join(root, "package.json"), JSON.stringify({ ...manifest, version: next }));

  const sql = join(root, "sql");
  const last = (await readdir(join(sql, "migrations"))).length;
  const number = (further: number) => String(last + further).padStart(6, "0");
  await writeFile(join(sql, `migrations/${number(1)}-campaign.sql`), CAMPAIGN);
  await writeFile(join(sql, `migrations/${number(2)}-region.sql`), REGION);
  const claim = await readFile(join(sql, CLAIM), "utf8");
  await writeFile(join(sql, CLAIM), withOneMoreArgument(claim));
  return { root, version: next };
}

const CAMPAIGN = `alter table posthaste.email_messages add column campaign text not null default 'none';
comment on column posthaste.email_messages.campaign is 'What the mail belongs to.';
create index email_messages_campaign on posthaste.email_messages (campaign) where campaign <> 'none';
`;

const REGION = `alter table posthaste.email_attempts add column region text;
comment on column posthaste.email_attempts.region is 'Where the worker was.';
`;

/** The old one goes in the statement before: in the same transaction, so that callers always find one of them. */
function withOneMoreArgument(claim: string): string {
  const before = "posthaste_private.claim(uuid[], text, interval, text, text, text)";
  const changed = claim
    .replaceAll(before, before.replace("text)", "text, text)"))
    .replace("probing text default null)", "probing text default null, region text default null)");
  if (changed === claim) throw new Error(`${CLAIM} is not what this test knows.`);
  return `drop function if exists ${before};\n${changed}`;
}

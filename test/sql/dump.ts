import type { Queryable } from "./mails.ts";

/** Every row of every table of all three schemas, as text, with its table: what a full dump would hold. */
export async function dump(on: Queryable): Promise<string[]> {
  const { rows: tables } = await on.query(
    `select c.oid::regclass::text as name from pg_class c
     where c.relkind in ('r', 'p', 'm') and c.relnamespace::regnamespace::text in ('posthaste', 'posthaste_private', 'graphile_worker') order by 1`,
  );
  const lines: string[] = [];
  for (const { name } of tables) {
    const { rows } = await on.query(`select t::text as line from ${name} t`);
    lines.push(...rows.map(({ line }) => `${name}: ${line}`));
  }
  return lines;
}

/** The lines of a dump that hold a word, whatever its case, as it is, percent-encoded, or as octets in hexadecimal. */
export async function linesWith(on: Queryable, word: string): Promise<string[]> {
  const forms = [word, encodeURIComponent(word), Buffer.from(word).toString("hex")].map((form) =>
    form.toLowerCase(),
  );
  return (await dump(on)).filter((line) => forms.some((form) => line.toLowerCase().includes(form)));
}

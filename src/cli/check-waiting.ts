import type { PosthasteConfig } from "../config.ts";
import { describeDatabase } from "../database/database-url.ts";
import { createLedger } from "../database/ledger.ts";
import { createPool } from "../database/pool.ts";
import type { EmailRow } from "../database/store.ts";
import { ERROR_CODES } from "../errors.ts";
import { createIsolation } from "../templates/isolation.ts";
import { loadTemplates, type TemplateCatalog } from "../templates/load.ts";
import { asFinding, doubtful, type Finding, fine, wrong } from "./check-findings.ts";

/** The newest so many waiting mails are looked at. */
const MOST = 10_000;

/** Renders the mail that waits in the database with the templates as they are here, and says what would fail; nothing is changed. */
export async function checkWaiting(
  config: PosthasteConfig,
  databaseUrl: string,
): Promise<readonly Finding[]> {
  const subject = "waiting mail";
  const catalog = await loadTemplates(config.emails, { trial: true }).catch(asFinding(subject));
  if ("ok" in catalog) return [catalog];
  await catalog.close();
  const pool = createPool({ connectionString: databaseUrl, applicationName: "posthaste check", max: 1 });
  try {
    const waiting = await createLedger(pool).list({ status: "PENDING" }, MOST);
    const misfits = await findMisfits(waiting, catalog, config.timeouts.render);
    const findings = [...misfits].map(([problem, { ids, hint }]) =>
      wrong(subject, `${problem} (${ids.length} of them, the newest ${ids[0]})`, hint),
    );
    if (waiting.length === MOST) findings.push(doubtful(subject, `Only the newest ${MOST} were looked at.`));
    return findings.some(({ ok }) => !ok)
      ? findings
      : [
          fine(subject, `${describeDatabase(databaseUrl)}: ${waiting.length} of them fit their templates.`),
          ...findings,
        ];
  } finally {
    await pool.end();
  }
}

/** What would fail, by what would be said of it. */
async function findMisfits(
  waiting: readonly EmailRow[],
  catalog: TemplateCatalog,
  timeout: number,
): Promise<Map<string, { ids: string[]; hint: string }>> {
  const misfits = new Map<string, { ids: string[]; hint: string }>();
  const isolation = createIsolation();
  const looks = waiting.map(async ({ id, template: name, parameters, locale }) => {
    const template = catalog.get(name);
    const mail = template
      ? await isolation.render(template, { parameters, locale, timeout })
      : ({
          ok: false,
          code: "template_not_found",
          message: `there is no template ${JSON.stringify(name)}`,
        } as const);
    return { id, mail };
  });
  for (const { id, mail } of await Promise.all(looks)) {
    if (mail === null || mail.ok) continue;
    const problem = `${mail.code}: ${mail.message}`;
    const known = misfits.get(problem) ?? { ids: [], hint: ERROR_CODES[mail.code].hint };
    known.ids.push(id);
    misfits.set(problem, known);
  }
  return misfits;
}

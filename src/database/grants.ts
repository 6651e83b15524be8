import pg from "pg";
import { PosthasteError } from "../errors.ts";

/** A login of the application gets one of Posthaste's roles. */
export interface Grant {
  readonly role: "producer" | "operator" | "viewer";
  readonly login: string;
}

const ROLES: readonly string[] = ["producer", "operator", "viewer"] satisfies Grant["role"][];

/** Reads `producer=app`. Throws a PosthasteError (wrong usage) when it is anything else. */
export function parseGrant(text: string): Grant {
  const [, role = "", login = ""] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  if (!ROLES.includes(role) || login === "") {
    throw new PosthasteError(
      `A grant is ROLE=LOGIN with ROLE producer, operator or viewer, e.g. producer=app; it was '${text}'.`,
      { exitCode: 2 },
    );
  }
  return { role: role as Grant["role"], login };
}

/** The statement for one grant. */
export function grantSql({ role, login }: Grant): string {
  return `grant posthaste_${role} to ${pg.escapeIdentifier(login)};`;
}

/** Gives the roles. Returns those that were not given before. Throws a PosthasteError that names a login that is not there. */
export async function applyGrants(client: pg.ClientBase, grants: readonly Grant[]): Promise<Grant[]> {
  const given: Grant[] = [];
  for (const grant of grants) {
    const { rows } = await client.query(
      `select exists (
         select from pg_auth_members m join pg_roles r on r.oid = m.roleid where m.member = l.oid and r.rolname = $2
       ) as member
       from pg_roles l where l.rolname = $1`,
      [grant.login, `posthaste_${grant.role}`],
    );
    if (rows.length === 0) {
      throw new PosthasteError(
        `The login of a grant must exist: there is no role '${grant.login}' in this server. ` +
          `Create it first (create role ${pg.escapeIdentifier(grant.login)} login), or correct its name; capitals count.`,
      );
    }
    if (rows[0].member) continue;
    await client.query(grantSql(grant));
    given.push(grant);
  }
  return given;
}

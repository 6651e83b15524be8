import type pg from "pg";
import { PosthasteError } from "../errors.ts";
import { checkSchema, type SchemaState } from "./check-schema.ts";

/**
 * Makes sure that the login of the HTTP server can do nothing but become a viewer or an operator, so that a mistake in the
 * server shows nobody anything. Throws a PosthasteError that says how to make such a login.
 */
export async function checkHttpLogin(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query(
    `select r.rolname as name, r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolcreatedb or r.rolreplication as mighty,
       array(select m.rolname::text from pg_roles m where m.oid <> r.oid and pg_has_role(r.oid, m.oid, 'MEMBER')) as roles,
       array(select m.rolname::text from pg_roles m where m.oid <> r.oid and pg_has_role(r.oid, m.oid, 'USAGE')) as inherited,
       exists (select from pg_namespace n where n.nspname in ('posthaste', 'posthaste_private', 'graphile_worker') and n.nspowner = r.oid) as owner
     from pg_roles r where r.rolname = current_user`,
  );
  const { name, mighty, roles, inherited, owner } = rows[0];
  const others = (roles as string[]).filter((role) => !ALLOWED.includes(role));
  const problem = mighty
    ? "has rights over the whole server"
    : owner
      ? "owns Posthaste's schemas"
      : others.length > 0
        ? `can also become ${others.join(", ")}`
        : roles.length === 0
          ? "can become neither a viewer nor an operator"
          : inherited.length > 0
            ? "has the rights of its roles without becoming them"
            : null;
  if (problem === null) return;
  throw new PosthasteError(
    `POSTHASTE_HTTP_DATABASE_URL must be of a login that can become posthaste_viewer or posthaste_operator and nothing else; "${name}" ${problem}. ` +
      "Make one: create role shop_http login noinherit password '…'; grant posthaste_viewer, posthaste_operator to shop_http;",
  );
}

const ALLOWED: readonly string[] = ["posthaste_viewer", "posthaste_operator"];

/** How the schema fits this program, asked by the HTTP server's login. Throws when the database cannot be reached. */
export async function schemaForHttp(pool: pg.Pool): Promise<SchemaState> {
  const client = await pool.connect();
  let failed: Error | undefined;
  try {
    await client.query("begin read only");
    await client.query("set local statement_timeout = '3s'");
    const { rows } = await client.query(
      `select rolname::text as role from pg_roles
       where rolname in ('posthaste_operator', 'posthaste_viewer') and pg_has_role(oid, 'MEMBER') order by 1 limit 1`,
    );
    // Nothing of Posthaste's can be read by the login itself.
    if (rows[0]) await client.query("select set_config('role', $1, true)", [rows[0].role]);
    return await checkSchema(client);
  } catch (error) {
    failed = error as Error;
    throw error;
  } finally {
    if (!failed) await client.query("rollback").catch((error: Error) => (failed = error));
    client.release(failed);
  }
}

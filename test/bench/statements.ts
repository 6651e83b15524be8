import type pg from "pg";

/** Server settings that make PostgreSQL count its statements, those inside of functions too. */
export const COUNT_STATEMENTS = {
  shared_preload_libraries: "pg_stat_statements",
  "pg_stat_statements.track": "all",
  "pg_stat_statements.track_utility": "on",
  compute_query_id: "on",
};

/** Begins to count. */
export async function beginCounting(database: pg.Pool): Promise<void> {
  await database.query("create extension if not exists pg_stat_statements");
  await database.query("select pg_stat_statements_reset()");
}

/** What was counted since, for so many mails: one line a statement, the dearest first; indented when it is inside of a function. */
export async function describeStatements(database: pg.Pool, mails: number): Promise<string> {
  const { rows } = await database.query(
    `select toplevel, calls / $1::float8 as calls, rows / calls::float8 as rows, total_exec_time / $1 as time,
       left(regexp_replace(query, '\\s+', ' ', 'g'), 110) as query
     from pg_stat_statements s join pg_database d on d.oid = s.dbid
     where d.datname = current_database() order by total_exec_time desc limit 40`,
    [mails],
  );
  const lines = rows.map(({ toplevel, calls, rows, time, query }) =>
    [
      time.toFixed(3).padStart(8),
      calls.toFixed(3).padStart(9),
      rows.toFixed(1).padStart(9),
      ` ${toplevel ? "" : "  "}${query}`,
    ].join(" "),
  );
  return [" ms/mail calls/mail rows/call  statement", ...lines, ""].join("\n");
}

import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { PosthasteError } from "../errors.ts";

/** How long a step waits for locks, and how often. */
export interface LockPatience {
  /** Milliseconds that one statement waits; everybody else queues behind it for as long. */
  readonly lockTimeout: number;
  /** Tries before it gives up. */
  readonly lockAttempts: number;
}

/** Runs `work` in a transaction of its own, again when it does not get its locks. `what` names it in the error. */
export function inTransaction<T>(
  client: pg.ClientBase,
  what: string,
  patience: LockPatience,
  work: () => Promise<T>,
): Promise<T> {
  return withLockRetries(what, patience, async () => {
    await client.query(`begin; set local lock_timeout = ${patience.lockTimeout}`);
    try {
      const result = await work();
      await client.query("commit");
      return result;
    } catch (error) {
      await client.query("rollback").catch(() => undefined);
      throw error;
    }
  });
}

/**
 * A statement that waits for a lock makes everybody who comes after it wait as well, readers and producers too. So each
 * wait is short, and between two tries, for as long on average, the queue flows off.
 */
export async function withLockRetries<T>(
  what: string,
  { lockTimeout, lockAttempts }: LockPatience,
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const code = sqlState(error);
      if (code !== LOCK_NOT_AVAILABLE && code !== DEADLOCK_DETECTED) throw error;
      if (attempt === lockAttempts) {
        throw new PosthasteError(
          `${what} did not get its locks in ${attempt} tries of ${lockTimeout} ms, because another transaction holds them; ` +
            "nothing of it was kept. Look for long transactions in pg_stat_activity, and run it again.",
          { cause: error },
        );
      }
      await delay(lockTimeout * (0.5 + Math.random()));
    }
  }
}

/** Runs the text of one SQL file. The error names the file and the line. */
export async function runFile(client: pg.ClientBase, file: string, text: string): Promise<void> {
  try {
    await client.query(text);
  } catch (error) {
    const position = Number((error as pg.DatabaseError).position ?? 0);
    const line = position > 0 ? `:${text.slice(0, position - 1).split("\n").length}` : "";
    const denied = sqlState(error) === "42501";
    throw new PosthasteError(
      `${file}${line} failed, and nothing of it was kept: ${(error as Error).message} (SQLSTATE ${sqlState(error)}).${
        denied ? ` ${DENIED}` : ""
      }`,
      { cause: error },
    );
  }
}

const LOCK_NOT_AVAILABLE = "55P03";
const DEADLOCK_DETECTED = "40P01";
const DENIED =
  "Run `posthaste migrate` as the owner of both schemas, with CREATE on the database and CREATEROLE; " +
  "or let somebody else make the roles, and use --no-roles.";

function sqlState(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  return String(code ?? cause?.code ?? "none");
}

import type { Socket } from "node:net";
import type pg from "pg";

/** What pg does not declare of its clients. */
interface Inside {
  readonly connection: { readonly stream: Socket };
  /** The statement whose answer is waited for. */
  readonly _activeQuery: unknown;
}

/**
 * Gives a connection up that owes an answer and brings no octet for `patience` milliseconds: a router, or a host that lost
 * its power, forgets connections without a word, and the system would wait for a quarter of an hour. pg's own
 * query_timeout leaves such a connection in the pool, for the next one to wait on.
 */
export function giveUpWhenSilent(client: pg.ClientBase, patience: number): void {
  const inside = client as unknown as Inside;
  const { stream } = inside.connection;
  // Not as the callback of setTimeout: that one is called once, and the first time is often one of rest.
  stream.on("timeout", () => {
    if (inside._activeQuery) stream.destroy(new Error(`PostgreSQL has not answered for ${patience} ms`));
  });
  stream.setTimeout(patience);
}

/** Asks an otherwise idle connection for a sign of life each `patience` milliseconds, so that its silence is noticed. */
export function keepAsking(client: pg.Client, patience: number): void {
  giveUpWhenSilent(client, patience);
  // An empty statement is the least that a server answers.
  const timer = setInterval(() => void client.query("").catch(() => undefined), patience);
  timer.unref();
  client.once("end", () => clearInterval(timer));
}

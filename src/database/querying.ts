/** Whatever runs a statement: a pool, a client, or PostGraphile's client inside a request's transaction. */
export interface Querying {
  // biome-ignore lint/suspicious/noExplicitAny: the signatures of pg and of PostGraphile meet only here.
  query(statement: { text: string; values: any[] }): Promise<{ readonly rows: readonly any[] }>;
}

/** The seed of a run: POSTHASTE_TEST_SEED, or a new one. It is shown, so that a failure can be repeated. */
export function seedOf(t: { diagnostic(text: string): void }): number {
  const seed = Number(process.env.POSTHASTE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`POSTHASTE_TEST_SEED=${seed}`);
  return seed;
}

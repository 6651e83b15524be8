/**
 * The seed of a run in the suite: always the same cases, so that a change that breaks one is told from bad luck;
 * `npm run fuzz` looks for others. POSTHASTE_TEST_SEED repeats what that found.
 */
export function seedOf(t: { diagnostic(text: string): void }): number {
  const seed = Number(process.env.POSTHASTE_TEST_SEED ?? 1);
  t.diagnostic(`POSTHASTE_TEST_SEED=${seed}`);
  return seed;
}

/** The value that half of them are below. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The smallest value that is not exceeded by the given share of them. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

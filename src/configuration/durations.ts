const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `"500ms"`, `"10s"`, `"2m"`, `"1.5h"`, `"5d"` or of a number; null for anything else. */
export function parseDuration(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) && value >= 0 ? Math.round(value) : null;
  if (typeof value !== "string") return null;
  const match = /^(\d+(?:\.\d+)?)\s?(ms|s|m|h|d)$/.exec(value.trim());
  const unit = UNITS[match?.[2] ?? ""];
  return unit === undefined ? null : Math.round(Number(match?.[1]) * unit);
}

/** The shortest of the forms that `parseDuration` reads: 120000 is `2m`, 1500 is `1500ms`. */
export function formatDuration(milliseconds: number): string {
  for (const unit of ["d", "h", "m", "s"]) {
    const size = UNITS[unit] ?? 1;
    if (milliseconds >= size && milliseconds % size === 0) return `${milliseconds / size}${unit}`;
  }
  return `${milliseconds}ms`;
}

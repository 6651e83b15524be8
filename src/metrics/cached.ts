/** What was read last, and how old it is. */
export interface Reading<T> {
  /** Null when there is nothing, or nothing recent enough to be told. */
  readonly value: T | null;
  /** Seconds since it was read. */
  readonly age: number;
  /** Seconds that reading it took. */
  readonly took: number;
  /** Whether the latest attempt to read came through. */
  readonly ok: boolean;
}

/** Milliseconds for which a reading stands at least. */
const STANDS = 10_000;
/** A reading that took long stands for this many times as long, so that reading never costs more than a twentieth. */
const SHARE = 20;
/** Milliseconds that a scrape waits for a new reading; it goes on in the background. */
const PATIENCE = 3_000;
/** Milliseconds after which a reading is not told any more: an old figure would look like a calm queue. */
const TOO_OLD = 60_000;

/**
 * Reads at most once in ten seconds however many ask, and one at a time. Never rejects.
 * @param options.now milliseconds, any clock that does not jump. Default: the monotonic one
 * @param options.patience milliseconds. Default 3,000
 */
export function createCached<T>(
  read: () => Promise<T>,
  options: { now?: () => number; patience?: number } = {},
): () => Promise<Reading<T>> {
  const now = options.now ?? (() => performance.now());
  let last: { value: T; at: number; took: number } | null = null;
  let ok = false;
  let nextAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  async function refresh(): Promise<void> {
    const began = now();
    try {
      const value = await read();
      last = { value, at: now(), took: now() - began };
      ok = true;
    } catch {
      ok = false;
    }
    nextAt = now() + Math.max(STANDS, SHARE * (now() - began));
    reading = null;
  }

  return async () => {
    if (now() >= nextAt) reading ??= refresh();
    if (reading) await Promise.race([reading, silence(options.patience ?? PATIENCE)]);
    // A question that is still unanswered is no good sign either.
    const answered = ok && reading === null;
    if (last === null) return { value: null, age: 0, took: 0, ok: answered };
    const age = now() - last.at;
    const standsFor = Math.max(TOO_OLD, 2 * SHARE * last.took);
    return {
      value: age > standsFor ? null : last.value,
      age: age / 1000,
      took: last.took / 1000,
      ok: answered,
    };
  };
}

function silence(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref();
  });
}

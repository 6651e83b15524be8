/** Counts failed attempts to log in, for each address that they come from. */
export interface Failures {
  /** Milliseconds for which this address is not heard with new tokens; 0: it is. */
  blocked(address: string): number;
  count(address: string): void;
}

/** Failures of one address in one window before it is not heard any more. */
const MOST = 20;
/** Milliseconds. */
const WINDOW = 60_000;
/** Addresses that are remembered; beyond it everybody starts anew, so that memory stays bounded. */
const MOST_ADDRESSES = 10_000;

/** @param now milliseconds, any clock that does not jump */
export function createFailures(now: () => number = () => performance.now()): Failures {
  const addresses = new Map<string, { failures: number; until: number }>();
  return {
    blocked(address) {
      const entry = addresses.get(address);
      if (!entry || entry.failures < MOST) return 0;
      return Math.max(0, entry.until - now());
    },
    count(address) {
      const entry = addresses.get(address);
      if (entry && entry.until > now()) {
        entry.failures += 1;
        return;
      }
      if (addresses.size >= MOST_ADDRESSES) addresses.clear();
      addresses.set(address, { failures: 1, until: now() + WINDOW });
    },
  };
}

/** What {@link within} gives when time is up. */
export const TIMED_OUT: unique symbol = Symbol("timed out");

/**
 * Waits for a promise, at most so many milliseconds. The work itself cannot be stopped; what it comes to later,
 * a rejection too, is dropped.
 */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T | typeof TIMED_OUT> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<typeof TIMED_OUT>((resolve) => {
    timer = setTimeout(resolve, milliseconds, TIMED_OUT);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

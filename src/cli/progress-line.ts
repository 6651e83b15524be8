/** A line on a terminal that shows how far something has come. */
export interface ProgressLine {
  show(done: number): void;
  /** Wipes it away. */
  end(): void;
}

const WIDTH = 30;
/** Milliseconds between two pictures. */
const PAUSE = 100;

/**
 * A progress bar on stderr, when that is a terminal; otherwise nothing at all.
 * @param count how much there is to do; asked only when it is shown
 */
export async function progressLine(
  count: () => Promise<number>,
  stream: NodeJS.WriteStream = process.stderr,
): Promise<ProgressLine> {
  if (!stream.isTTY) return { show: () => undefined, end: () => undefined };
  const total = await count();
  const began = performance.now();
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    show(done) {
      const now = performance.now();
      if (now - shownAt < PAUSE || total === 0) return;
      shownAt = now;
      stream.write(`\r\x1b[2K${picture(done, total, now - began)}`);
    },
    end: () => void stream.write("\r\x1b[2K"),
  };
}

/** `[#####     ]  50 %  5,000 of 10,000, about 12 s left`; milliseconds since the beginning. */
export function picture(done: number, total: number, elapsed: number): string {
  const share = Math.min(1, done / total);
  const full = Math.round(share * WIDTH);
  const left = done > 0 && share < 1 ? `, about ${Math.ceil((elapsed * (1 / share - 1)) / 1000)} s left` : "";
  const bar = `[${"#".repeat(full)}${" ".repeat(WIDTH - full)}]`;
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${grouped(done)} of ${grouped(total)}${left}`;
}

function grouped(count: number): string {
  return count.toLocaleString("en-GB");
}

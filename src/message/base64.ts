/** Bytes of one line: 76 characters, the most that RFC 2045 6.8 allows. */
const LINE = 57;
/** Lines of one piece: below 64 KiB, so that the transport sees that a slow server is still reading. */
const LINES = 840;
const BLOCK = LINE * LINES;

/** Octets that `size` bytes take as lines of base64, without an end of line after the last one. */
export function base64Size(size: number): number {
  const lines = Math.ceil(size / LINE);
  return 4 * Math.ceil(size / 3) + 2 * Math.max(0, lines - 1);
}

/** Bytes as lines of base64, in pieces; what is held is one piece. */
export async function* base64Lines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  let begun = false;
  for await (const piece of bytes) {
    const held = Buffer.concat([rest, piece]);
    let start = 0;
    for (; held.length - start >= BLOCK; start += BLOCK) {
      yield encode(held.subarray(start, start + BLOCK), begun);
      begun = true;
    }
    rest = held.subarray(start);
  }
  if (rest.length > 0) yield encode(rest, begun);
}

function encode(block: Buffer, follows: boolean): Buffer {
  const lines = block.toString("base64").replace(/.{76}(?=.)/g, "$&\r\n");
  return Buffer.from(follows ? `\r\n${lines}` : lines, "latin1");
}

import { randomBytes } from "node:crypto";
import { base64Lines, base64Size } from "./base64.ts";

/** A file in a message. */
export interface Part {
  /** Bytes before they are encoded. */
  readonly size: number;
  read(): AsyncIterable<Uint8Array>;
}

/** Stands for a file while the message around it is built: one line of base64 that no message holds by chance. */
export interface Placeholder {
  readonly content: Buffer;
  readonly line: string;
}

export function placeholder(): Placeholder {
  const content = randomBytes(57);
  return { content, line: content.toString("base64") };
}

/**
 * A built message with files in the place of their placeholders. Its size is known before a file is read, and of the files
 * only a piece is held at a time. Throws when a placeholder is not in the message, which would be a bug.
 * @param message as it was built around the placeholders
 * @param places the placeholders, with the file of each
 */
export function assemble(
  message: Buffer,
  places: readonly { readonly placeholder: Placeholder; readonly part: Part }[],
): { readonly size: number; pieces(): AsyncGenerator<Buffer> } {
  const cuts = places
    .map(({ placeholder, part }) => ({ at: message.indexOf(placeholder.line, 0, "latin1"), part }))
    .sort((a, b) => a.at - b.at);
  if (cuts.some(({ at }) => at < 0)) throw new Error("a placeholder of an attachment is not in the message");
  const length = places[0]?.placeholder.line.length ?? 0;
  const encoded = cuts.reduce((sum, { part }) => sum + base64Size(part.size), 0);
  return {
    size: message.length - cuts.length * length + encoded,
    async *pieces() {
      let from = 0;
      for (const { at, part } of cuts) {
        yield* pieces(message.subarray(from, at));
        yield* base64Lines(part.read());
        from = at + length;
      }
      yield* pieces(message.subarray(from));
    },
  };
}

// Pieces this small let the transport see that a slow server is still reading.
const CHUNK = 64 * 1024;

/** Octets in pieces. */
export function* pieces(octets: Buffer): Generator<Buffer> {
  for (let start = 0; start < octets.length; start += CHUNK) yield octets.subarray(start, start + CHUNK);
}

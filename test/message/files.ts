import { createHash } from "node:crypto";
import type { FileStore, StoredFile } from "../../src/file-store.ts";

/** SHA-256 in hexadecimal. */
export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** A store of files in memory, by key. Pieces are of 1000 bytes. */
export function memoryStore(files: Readonly<Record<string, Uint8Array>>, checksums = true): FileStore {
  return {
    async find(key) {
      const bytes = Object.hasOwn(files, key) ? files[key] : undefined;
      return bytes ? stored(bytes, checksums ? sha256(bytes) : null) : null;
    },
  };
}

/** A file in memory. */
export function stored(bytes: Uint8Array, checksum: string | null = null): StoredFile {
  return {
    size: bytes.length,
    checksum,
    async *read() {
      for (let start = 0; start < bytes.length; start += 1000) yield bytes.subarray(start, start + 1000);
    },
  };
}

/** All that comes, as one. */
export async function whole(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

/** Bytes that differ from place to place, the same for the same seed. */
export function bytesOf(size: number, seed = 1): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let state = seed * 2654435761;
  for (let index = 0; index < size; index += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}

import type pg from "pg";
import type { FileStore } from "../file-store.ts";

/** Bytes that are read at once: a round trip in which no other mail waits for long. */
const PIECE = 256 * 1024;

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The table posthaste.files as a store of attachments. Rejects when the database cannot be reached. */
export function createDatabaseFiles(pool: pg.Pool): FileStore {
  return {
    async find(key) {
      if (!ID.test(key)) return null;
      const { rows } = await pool.query({
        name: "posthaste_find_file",
        text: "select * from posthaste_private.find_file($1)",
        values: [key],
      });
      const [file] = rows as { size: number; checksum: string }[];
      return file === undefined ? null : { ...file, read: () => readPieces(pool, key, file.size) };
    },
  };
}

/** No transaction holds the pieces together: a file never changes, and the reader compares the checksum. */
async function* readPieces(pool: pg.Pool, key: string, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < size; start += PIECE) {
    const { rows } = await pool.query({
      name: "posthaste_read_file",
      text: "select posthaste_private.read_file($1, $2, $3) as piece",
      values: [key, start, PIECE],
    });
    const [row] = rows as { piece: Buffer | null }[];
    if (!row?.piece) throw new Error("the file is gone");
    yield row.piece;
  }
}

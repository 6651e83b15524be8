/** A place that keeps files for attachments. What it rejects with means that it cannot be asked at the moment. */
export interface FileStore {
  /** Looks a file up without reading it; null when there is none of that key, whatever the key is. */
  find(key: string): Promise<StoredFile | null>;
}

/** A file in its store. */
export interface StoredFile {
  /** Bytes. */
  readonly size: number;
  /** SHA-256 in hexadecimal, when the store keeps one; null: the bytes are to be read for it. */
  readonly checksum: string | null;
  /** The bytes in pieces, from the first one, anew at each call. Throws when the store cannot be read, or the file is gone. */
  read(): AsyncIterable<Uint8Array>;
}

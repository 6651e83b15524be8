/** Text without what a terminal obeys or reorders: control characters, C1 ones too, and marks of direction. Line feeds stay. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, " ");
}

/** The same on one line, for text that is a part of a line. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, " ")).trim();
}

/** JSON that is as harmless to a terminal: what `printable` drops is escaped, so the document means the same. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const UNPRINTABLE = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

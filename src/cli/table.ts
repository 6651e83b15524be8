import { oneLine } from "./printable.ts";

/** Columns of text, padded with spaces. */
export function table(rows: readonly (readonly string[])[], indent = ""): string {
  const cells = rows.map((row) => row.map(oneLine));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => width(row[column]))));
  return cells
    .map((row) => (indent + row.map((cell, column) => pad(cell, widths[column])).join("  ")).trimEnd())
    .join("\n");
}

function pad(cell: string, to = 0): string {
  return cell + " ".repeat(Math.max(0, to - width(cell)));
}

function width(cell = ""): number {
  return [...cell].length;
}

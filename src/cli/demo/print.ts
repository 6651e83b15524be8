import { styleText } from "node:util";

/** A heading with an empty line above. styleText leaves colour out where stdout is no terminal, and with NO_COLOR. */
export function title(text: string): void {
  print(`\n${styleText("bold", text)}\n`);
}

/** A line of explanation. */
export function note(text: string): void {
  print(text === "" ? "" : `  ${text}`);
}

/** SQL as it is run, or anything else that is quoted, set off by a bar. */
export function quote(text: string): void {
  for (const line of text.split("\n"))
    print(`  ${styleText("dim", "|")} ${styleText("cyan", line)}`.trimEnd());
}

/** What came of it. */
export function result(text: string): void {
  print(`  ${styleText("dim", "|")} ${styleText("green", "->")} ${text}`);
}

/** Rows with their columns below each other. Empty: says so. */
export function table(rows: readonly Readonly<Record<string, unknown>>[]): void {
  const [first] = rows;
  if (!first) {
    result("no rows");
    return;
  }
  const lines = [Object.keys(first), ...rows.map((row) => Object.values(row).map(String))];
  const widths = Object.keys(first).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  for (const line of lines)
    result(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("   ")
        .trimEnd(),
    );
}

/** Milliseconds for people. */
export function duration(milliseconds: number): string {
  return milliseconds < 10_000 ? `${milliseconds.toFixed(0)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

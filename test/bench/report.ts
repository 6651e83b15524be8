import type { Latencies, Latency } from "./latency.ts";
import type { RenderingCost } from "./rendering.ts";
import { median } from "./statistics.ts";
import type { Throughput } from "./throughput.ts";

/** What the benchmark found. */
export interface Results {
  readonly mails: number;
  readonly rounds: number;
  /** Octets of one mail on the wire. */
  readonly size: number;
  readonly throughput: readonly Throughput[];
  /** Posthaste's mails per second as a share of theirs: the median of the rounds' ratios. */
  readonly ratios: { readonly toBareLoop: number; readonly toGraphileWorker: number };
  readonly samples: number;
  readonly latency: Latencies;
  readonly rendering: readonly RenderingCost[];
}

/** Posthaste against another, round by round: both of a round met the same machine. */
export function ratio(throughput: readonly Throughput[], other: Throughput["name"]): number {
  const of = (name: Throughput["name"]) => throughput.find((one) => one.name === name)?.rounds ?? [];
  return median(of("Posthaste").map((rate, round) => rate / (of(other)[round] ?? Number.NaN)));
}

/** The results for people. */
export function describe(results: Results): string {
  const { throughput, ratios, latency } = results;
  return `
Throughput: ${results.mails} mails of ${(results.size / 1024).toFixed(1)} KiB, one process, median of ${results.rounds} rounds
${table([
  ["", "mails/s", "lowest", "highest", "loop busy", "CPU ms/mail: Node", "PostgreSQL", "sink"],
  ...throughput.map(({ name, rate, rounds, busy, node, postgres, sink }) => [
    name,
    rate.toFixed(0),
    Math.min(...rounds).toFixed(0),
    Math.max(...rounds).toFixed(0),
    `${(Math.min(busy, 1) * 100).toFixed(0)} %`,
    node.toFixed(2),
    postgres?.toFixed(2) ?? "?",
    sink.toFixed(2),
  ]),
])}

  ${ratios.toBareLoop.toFixed(2)} of the bare loop (aim: at least 0.8)
     The loop renders and sends the same mails from memory: no database, no guarantee. It is what the work itself costs.
  ${ratios.toGraphileWorker.toFixed(2)} of a plain Graphile Worker task (aim: at least 1.2)
     The task renders and sends with pooled nodemailer. It has no status, no lease, no record of what was sent.
  Both are medians of the rounds' ratios. CPU is processor time for one mail: it depends less than mails/s on what else the machine does.

Latency: ${results.samples} lone mails, milliseconds
${table([
  ["", "median", "p99"],
  latencyRow("Posthaste, COMMIT returned → accepted by the mail server", latency.posthaste),
  latencyRow("Posthaste, before COMMIT → accepted", latency.posthasteFromBefore),
  latencyRow("Graphile Worker, COMMIT returned → task starts", latency.graphileJob),
  latencyRow("bare loop, rendering begins → accepted", latency.bareMail),
])}

  The first less the last two is what Posthaste adds: the claim, and the hand-over before the final dot.

Rendering: milliseconds of processor time for one mail, without any database or server
${table([
  ["", "HTML, KB", "render()", "ours", "toPlainText()", "ours", "mails per CPU second"],
  ...results.rendering.map(({ template, size, html, text }) => [
    template,
    (size / 1024).toFixed(1),
    html.library.toFixed(3),
    html.ours.toFixed(3),
    text.library.toFixed(3),
    text.ours.toFixed(3),
    `× ${((html.library + text.library) / (html.ours + text.ours)).toFixed(2)}`,
  ]),
])}

  × is how many more mails our way renders in the same processor time (aim: 2.5); the octets are the same.
`.trimStart();
}

function latencyRow(name: string, latency: Latency): string[] {
  return [name, latency.median.toFixed(1), latency.p99.toFixed(1)];
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row.map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      ),
    )
    .map((cells) => `  ${cells.join("   ")}`)
    .join("\n");
}

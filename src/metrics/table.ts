import { Gauge, type Registry } from "@prometheus-io/client";

/** Labels of one series, and its value; null: there is nothing to tell, and no series. */
export type Row = readonly [labels: Readonly<Record<string, string>>, value: number | null];

/** A gauge whose series are all told anew each time. */
export interface GaugeTable {
  fill(rows: readonly Row[]): void;
}

/** Makes a gauge that has no series until it is filled; a plain one would say 0. */
export function createGaugeTable(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly string[] = [],
): GaugeTable {
  const gauge = new Gauge<string>({ name, help, labelNames: [...labelNames], registers: [registry] });
  const clear = () => {
    gauge.reset();
    if (labelNames.length === 0) gauge.remove();
  };
  clear();
  return {
    fill(rows) {
      clear();
      for (const [labels, value] of rows) {
        if (value === null || !Number.isFinite(value)) continue;
        if (labelNames.length === 0) gauge.set(value);
        else gauge.set(labels, value);
      }
    },
  };
}

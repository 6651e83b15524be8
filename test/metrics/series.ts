import assert from "node:assert/strict";

/** The series of a scrape: `name{label="value"}` as Prometheus writes it, and its value. */
export type Series = ReadonlyMap<string, number>;

/** Reads Prometheus' text format. Fails on a line that is none. */
export function readSeries(body: string): Series {
  const series = new Map<string, number>();
  for (const line of body.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [, name, value] = /^([a-z_]+(?:\{[^}]*\})?) (\S+)$/.exec(line) ?? [];
    assert.ok(name !== undefined && !series.has(name), line);
    series.set(name, Number(value));
  }
  return series;
}

/** The distinct values of a label. */
export function labelValues(series: Series, label: string): string[] {
  const found = [...series.keys()].flatMap(
    (name) => new RegExp(`[{,]${label}="([^"]*)"`).exec(name)?.[1] ?? [],
  );
  return [...new Set(found)].sort();
}

/** Scrapes, and reads the answer. */
export async function scrape(url: string): Promise<Series> {
  const response = await fetch(url);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  return readSeries(await response.text());
}

import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import { committed } from "./contenders.ts";
import { PARAMETERS, RECIPIENT, TEMPLATE } from "./mail.ts";
import type { Process } from "./rpc.ts";
import { median, percentile } from "./statistics.ts";

/** Milliseconds. */
export interface Latency {
  readonly median: number;
  readonly p99: number;
}

/** How long a lone mail takes, and its parts. */
export interface Latencies {
  /** From the return of COMMIT to the sink's acceptance. */
  readonly posthaste: Latency;
  /** The same from just before COMMIT. */
  readonly posthasteFromBefore: Latency;
  /** Graphile Worker's own share: from the return of COMMIT after add_job to the start of a task that does nothing. */
  readonly graphileJob: Latency;
  /** The mail's own share: render and send it by the bare loop. */
  readonly bareMail: Latency;
}

/** Each sample is a lone mail of Posthaste, a lone job of Graphile Worker and a lone mail of the bare loop, one after the other. */
export async function measureLatency(options: {
  posthaste: pg.Pool;
  graphile: pg.Pool;
  processes: { readonly bare: Process; readonly graphile: Process; readonly sink: Process };
  samples: number;
}): Promise<Latencies> {
  const { posthaste, graphile, processes, samples } = options;
  const times = {
    posthaste: [] as number[],
    posthasteFromBefore: [] as number[],
    graphileJob: [] as number[],
    bareMail: [] as number[],
  };
  const accepted = () => processes.sink.ask<number>("accepted", 1);
  const { rows } = await graphile.query(
    `select ${RECIPIENT} as recipient, ${PARAMETERS} as parameters from generate_series(1, 1) n`,
  );
  for (let number = 1; number <= samples; number += 1) {
    const mail = accepted();
    const sent = await committed(posthaste, enqueue(number));
    const arrived = await mail;
    times.posthaste.push(arrived - sent.after);
    times.posthasteFromBefore.push(arrived - sent.before);
    await quiet();

    const start = processes.graphile.ask<number>("started");
    const added = await committed(graphile, "select graphile_worker.add_job('nothing')");
    times.graphileJob.push((await start) - added.after);
    await quiet();

    const bare = accepted();
    const began = await processes.bare.ask<number>("send", rows);
    times.bareMail.push((await bare) - began);
    await quiet();
  }
  const summary = (all: readonly number[]): Latency => ({ median: median(all), p99: percentile(all, 0.99) });
  return {
    posthaste: summary(times.posthaste),
    posthasteFromBefore: summary(times.posthasteFromBefore),
    graphileJob: summary(times.graphileJob),
    bareMail: summary(times.bareMail),
  };
}

/** So that what the one before leaves to be written does not meet the next one; irregular, to meet no timer's beat. */
function quiet(): Promise<void> {
  return pause(15 + Math.random() * 15);
}

function enqueue(number: number): string {
  return `select posthaste.enqueue('${TEMPLATE}', ${RECIPIENT}, ${PARAMETERS}, idempotency_key => 'lone:' || n)
    from (values (${number})) _(n)`;
}

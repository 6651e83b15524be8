import type { Contender } from "./contenders.ts";
import { now, type Process } from "./rpc.ts";
import { median } from "./statistics.ts";

/** How one contender did. */
export interface Throughput {
  readonly name: Contender["name"];
  /** Mails per second of each round. */
  readonly rounds: readonly number[];
  /** Mails per second, median. */
  readonly rate: number;
  /** Share of the time in which its event loop was busy, median: at 1, less work for each mail is what makes it faster. */
  readonly busy: number;
  /** Milliseconds of processor time for one mail, median: in its own process. */
  readonly node: number;
  /** In PostgreSQL; null where the system does not tell. */
  readonly postgres: number | null;
  /** In the sink. */
  readonly sink: number;
}

interface Round {
  readonly rate: number;
  readonly busy: number;
  readonly node: number;
  readonly postgres: number | null;
  readonly sink: number;
}

/**
 * Each round gives the same number of mails to one contender after the other, so that whatever else the machine does
 * meets all of them. Measured from the moment before COMMIT until the sink has accepted the last mail.
 */
export async function measureThroughput(options: {
  contenders: readonly Contender[];
  sink: Process;
  mails: number;
  rounds: number;
  /** Mails before the first round, so that the code is compiled and the connections are open. */
  warmUp: number;
  postgresTime: () => number | null;
  /** Done between the first mails and the first round. */
  onWarm: () => Promise<void>;
  onRound: (line: string) => void;
}): Promise<Throughput[]> {
  const { contenders, mails, onRound } = options;
  const rounds = new Map(contenders.map((contender) => [contender, [] as Round[]]));
  for (const contender of contenders) await run(contender, { ...options, mails: options.warmUp });
  await options.onWarm();
  for (let number = 1; number <= options.rounds; number += 1) {
    for (const contender of contenders) {
      const round = await run(contender, options);
      rounds.get(contender)?.push(round);
      onRound(`round ${number}: ${contender.name} ${mails} mails, ${Math.round(round.rate)}/s`);
    }
  }
  return [...rounds].map(([{ name }, all]) => ({
    name,
    rounds: all.map(({ rate }) => rate),
    rate: median(all.map(({ rate }) => rate)),
    busy: median(all.map(({ busy }) => busy)),
    node: median(all.map(({ node }) => node)),
    postgres: all[0]?.postgres === null ? null : median(all.map(({ postgres }) => postgres ?? 0)),
    sink: median(all.map(({ sink }) => sink)),
  }));
}

async function run(
  contender: Contender,
  { sink, mails, postgresTime }: { sink: Process; mails: number; postgresTime: () => number | null },
): Promise<Round> {
  const accepted = sink.ask<number>("accepted", mails);
  const began = await contender.begin(mails);
  // The insert is the application's work, not the worker's.
  const before = await used();
  const ended = await accepted;
  const own = await contender.process.usage();
  await contender.idle();
  const after = await used();
  const each = (from: number, to: number) => (to - from) / mails;
  return {
    rate: mails / ((ended - began) / 1000),
    busy: (own.busy - before.own.busy) / (ended - before.at),
    node: each(before.own.processor, after.own.processor),
    sink: each(before.sink.processor, after.sink.processor),
    postgres:
      before.postgres === null || after.postgres === null ? null : each(before.postgres, after.postgres),
  };

  async function used() {
    const [own, sinkUsage] = await Promise.all([contender.process.usage(), sink.usage()]);
    return { own, sink: sinkUsage, postgres: postgresTime(), at: now() };
  }
}

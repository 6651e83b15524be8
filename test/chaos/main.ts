// `npm run chaos`: what deaths, stalls and outages of workers and mail servers cost, in figures.
import { parseArgs } from "node:util";
import { median } from "../bench/statistics.ts";
import type { Account } from "./account.ts";
import { measureBacklog } from "./backlog.ts";
import { killAnyTime } from "./kill-any-time.ts";
import { killAtMoment, MOMENTS } from "./kill-at-moment.ts";
import { killInFlight } from "./kill-in-flight.ts";
import { measureIsolation, measurePoison } from "./poison.ts";
import { describeRolling, rollingDeploy } from "./rolling.ts";
import { inLanes } from "./stage.ts";
import { stallBeforeDot } from "./stall.ts";

const USAGE = `npm run chaos -- [options]
  --only PARTS   of in-flight, moments, any-time, stalls, backlog, rolling, poison; separated by commas (all of them)
  --times N      deaths of a worker with 100 mails in flight (10)
  --kills N      deaths at any time (100), and a fifth of it at each moment of a send
  --stalls N     workers that are stopped before the final dot (20)
  --waiting N    mails behind an open breaker (300000)
  --restarts N   workers that a rolling deploy replaces (12)
  --seconds N    of ten mails a second, with and without mail that never ends among them (60)`;

/** The scenes' lease and two periods of their maintenance, milliseconds. */
const PROMISED = 3000 + 2 * 1000;

const { values: options } = parseArgs({
  options: {
    only: { type: "string", default: "in-flight,moments,any-time,stalls,backlog,rolling,poison" },
    times: { type: "string", default: "10" },
    kills: { type: "string", default: "100" },
    stalls: { type: "string", default: "20" },
    waiting: { type: "string", default: "300000" },
    restarts: { type: "string", default: "12" },
    seconds: { type: "string", default: "60" },
    help: { type: "boolean", default: false },
  },
});

const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  "in-flight": inFlight,
  moments,
  "any-time": anyTime,
  stalls,
  backlog,
  rolling,
  poison,
};

if (options.help) console.log(USAGE);
else for (const part of options.only.split(",")) await (PARTS[part] ?? unknownPart(part))();
// Servers of the run go with the process.
process.exit();

function unknownPart(part: string): never {
  console.error(`There is no part ${JSON.stringify(part)}.\n${USAGE}`);
  process.exit(2);
}

async function inFlight(): Promise<void> {
  const deaths = await inLanes(Number(options.times), 1, killInFlight);
  const took = deaths.map((death) => death.took);
  const start = median(deaths.map((death) => death.start));
  say(
    `kill -9 with 100 mails in flight and ${median(deaths.map(({ fetched }) => fetched))} jobs fetched, ${deaths.length} times`,
    [
      verdictOf(deaths),
      `everything delivered after ${ms(median(took))}, worst ${ms(Math.max(...took))}; promised: lease + 2 maintenance periods = ${ms(PROMISED)}`,
      `(of which the second worker needs ${ms(start)} to start)`,
    ],
  );
}

async function moments(): Promise<void> {
  const kills = Math.max(1, Math.round(Number(options.kills) / 5));
  const accounts = await inLanes(MOMENTS.length, 2, (turn) => killAtMoment(MOMENTS[turn]!, kills));
  say(`kill -9 at one moment of a send, one mail in flight, ${kills} times each`, [
    ...accounts.map((account, index) => `${MOMENTS[index]!.padEnd(16)} ${per100(account, kills)}`),
    verdictOf(accounts),
  ]);
}

async function anyTime(): Promise<void> {
  const deaths = await killAnyTime(Number(options.kills));
  say(
    `kill -9 at any time of a busy worker (20 at once, replies to the dot after 0 to 20 ms), ${deaths.kills} times`,
    [
      `${deaths.inFlight} mails were in flight, ${deaths.handedOver} of them handed over`,
      per100(deaths, deaths.kills),
      verdictOf([deaths]),
    ],
  );
}

async function stalls(): Promise<void> {
  const accounts = await inLanes(Number(options.stalls), 4, stallBeforeDot);
  say(`SIGSTOP before the final dot for three leases, then SIGCONT, ${accounts.length} times`, [
    `copies each: ${[...new Set(accounts.map(({ copies }) => copies))].join(" or ")}`,
    verdictOf(accounts),
  ]);
}

async function backlog(): Promise<void> {
  const waiting = Number(options.waiting);
  const found = await measureBacklog({
    waiting,
    runs: Math.ceil(waiting / 2000) + 20,
    drain: Math.min(3000, waiting),
  });
  say(`${waiting} mails behind an open breaker`, [
    `maintenance: median ${ms(median(found.open))}, worst ${ms(Math.max(...found.open))} of ${found.open.length} runs (aim: below 100 ms); ${found.jobs} jobs`,
    `closed: ${found.sent} sent after ${ms(found.took)}; maintenance meanwhile: median ${ms(median(found.draining))}, worst ${ms(Math.max(...found.draining))}`,
    ...found.growth.map(
      ({ after, allowance, sent }) =>
        `  ${ms(after).padStart(9)}  jobs in one run: ${allowance ?? "2000, no limit"}; sent so far: ${sent}`,
    ),
  ]);
}

async function rolling(): Promise<void> {
  // The migration has to give way at least once: it waits 2 s for a lock.
  const found = await rollingDeploy({ restarts: Number(options.restarts), pause: 15, held: 5_000 });
  say("rolling deploy of 4 workers with a migration, while mail is enqueued all the time", [
    ...describeRolling(found),
    verdictOf([found]),
  ]);
}

async function poison(): Promise<void> {
  const seconds = Number(options.seconds);
  for (const bad of [0, 1, 10]) {
    const fared = await measurePoison(seconds, bad);
    say(`ten mails a second for ${seconds} s to one worker, ${bad} mails that never end among them`, [
      `enqueue to acceptance: median ${ms(fared.median)}, 95th percentile ${ms(fared.p95)}, worst ${ms(fared.worst)}; of what was not handed over at a death ${ms(fared.worstUnflagged)}, with at most ${fared.attempts} attempts`,
      `the worker was started ${fared.starts} times`,
      verdictOf([fared]),
    ]);
  }
  const { bare, thread, inARow, fresh } = await measureIsolation(200);
  say("rendering order-confirmed, for each mail", [
    `with nothing around it ${ms(bare)}, in a worker ${ms(thread)}, in a process of its own ${ms(inARow)} where others wait, ${ms(fresh)} alone`,
  ]);
}

function per100(account: Account, kills: number): string {
  const share = (count: number) => ((count * 100) / kills).toFixed(0);
  return `second copies per 100 kills: ${share(account.secondCopies)}; flagged: ${share(account.flagged)}`;
}

function verdictOf(accounts: readonly Account[]): string {
  const sum = (of: (account: Account) => number) =>
    accounts.reduce((total, account) => total + of(account), 0);
  const broken = [...new Set(accounts.flatMap((account) => Object.keys(account.broken)))];
  return [
    `${sum(({ mails }) => mails)} mails: lost ${sum(({ lost }) => lost)}`,
    `second copies ${sum(({ secondCopies }) => secondCopies)}`,
    `unflagged ${sum(({ unflagged }) => unflagged)}`,
    `flagged ${sum(({ flagged }) => flagged)}`,
    `invariants broken: ${broken.join("; ") || "none"}`,
  ].join(", ");
}

function say(title: string, lines: readonly string[]): void {
  console.log([title, ...lines.map((line) => `  ${line}`), ""].join("\n"));
}

function ms(milliseconds: number): string {
  return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds).toLocaleString("en")} ms`;
}

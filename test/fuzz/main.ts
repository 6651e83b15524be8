// `npm run fuzz`: mail servers that answer anything, and producers that write anything, for as many rounds as wanted.
import { parseArgs } from "node:util";
import { startServer } from "../server.ts";
import { wrongVerdicts } from "./codes.ts";
import { fuzzProducer } from "./producer-side.ts";
import { fuzzServer } from "./server-side.ts";

const USAGE = `npm run fuzz -- [options]
  --rounds N   rounds of 400 requests and of 60 mails (10), after every code at every point
  --seed N     of the first round; the next ones count on (random)`;

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "10" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
    help: { type: "boolean", default: false },
  },
});
if (options.help) {
  console.log(USAGE);
  process.exit();
}

const server = await startServer();
process.env.POSTHASTE_TEST_SERVER = server.connectionString;
const { sends, wrong } = await wrongVerdicts(Array.from({ length: 1000 }, (_, code) => code));
console.log(`codes 000 to 999 at every point: ${sends} sends, ${wrong.length} wrong verdicts`);
let failed = wrong.length > 0;
for (let round = 0; round < Number(options.rounds); round += 1) {
  const seed = Number(options.seed) + round;
  for (const [side, run] of [
    ["producer", (t: Scope) => fuzzProducer(t, seed, 400)],
    ["server", (t: Scope) => fuzzServer(t, seed, 60)],
  ] as const) {
    const { broken, ...figures } = await scoped<Awaited<ReturnType<typeof run>>>(run);
    console.log(`seed ${seed}, ${side}: ${JSON.stringify(figures)}`);
    for (const promise of broken) console.log(`  ${promise}`);
    failed ||= broken.length > 0;
  }
}
await server.close();
process.exit(failed ? 1 : 0);

/** What a test has, outside of one. */
interface Scope {
  after(close: () => Promise<void>): void;
}

async function scoped<T>(run: (scope: Scope) => Promise<T>): Promise<T> {
  const closers: (() => Promise<void>)[] = [];
  try {
    return await run({ after: (close) => void closers.push(close) });
  } finally {
    for (const close of closers) await close();
  }
}

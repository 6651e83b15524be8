import fc from "fast-check";
import { startServer } from "../server.ts";
import { CHART } from "./promises.ts";
import { emptyTally, property } from "./run.ts";
import { createScene } from "./scene.ts";

/** The long run: `npm run model -- [commands] [seed]`. */
const [commands = "50000", seed = String(Math.floor(Math.random() * 2 ** 31))] = process.argv.slice(2);
const goal = Number(commands);
if (!Number.isInteger(goal) || goal < 1) {
  console.error(`commands must be a whole number from 1, not ${commands}: try npm run model -- 50000`);
  process.exit(2);
}

const server = await startServer();
process.env.POSTHASTE_TEST_SERVER = server.connectionString;
const scene = await createScene();
const tally = emptyTally();
const began = performance.now();
try {
  for (let round = Number(seed); tally.commands < goal; round++) {
    await fc.assert(property(scene, tally, 100), { seed: round, numRuns: 50 });
    report(`seed ${round}`);
  }
  for (const step of CHART) console.log(`${step}: ${tally.steps.get(step) ?? 0}`);
} finally {
  report("in all");
  await scene.close();
  await scene.database.close();
  await server.close();
}

function report(what: string): void {
  const { runs, commands, groups, duplicates } = tally;
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(
    `${what}: ${seconds} s, ${runs} runs, ${commands} commands, ${groups} groups at the same time, ${duplicates} runs with flagged duplicates`,
  );
}

import { test } from "node:test";
import fc from "fast-check";
import { emptyTally, property } from "./run.ts";
import { createScene } from "./scene.ts";

const SEED = Number(process.env.POSTHASTE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

test("two workers, a reaper and an operator at the same time leave every mail as the model says", async (t) => {
  const scene = await createScene();
  const tally = emptyTally();
  try {
    await fc.assert(property(scene, tally, 60), {
      seed: SEED,
      numRuns: 80,
    });
  } finally {
    t.diagnostic(
      `seed ${SEED}, ${tally.runs} runs, ${tally.commands} commands, ${tally.groups} groups at the same time`,
    );
    await scene.close();
  }
});

import { type Scene, startScene } from "../faults/scene.ts";

/** A scene outside of a test: it is taken away when the work is done, also when it failed. */
export async function onStage<T>(
  setting: Parameters<typeof startScene>[1],
  work: (scene: Scene) => Promise<T>,
): Promise<T> {
  await using closing = new AsyncDisposableStack();
  // Without this await everything would be gone before the work begins.
  return await work(await startScene({ after: (close) => closing.defer(close) }, setting));
}

/** Does the work so many times, a few at a time; the results in order. */
export async function inLanes<T>(
  times: number,
  lanes: number,
  work: (turn: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (next < times) {
        const turn = next++;
        results[turn] = await work(turn);
      }
    }),
  );
  return results;
}

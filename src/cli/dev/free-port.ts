import { createServer } from "node:net";
import { PosthasteError } from "../../errors.ts";

/** How many ports are tried. */
const TRIES = 100;

/** The first free port of 127.0.0.1 from `first` on. Throws a PosthasteError when there is none among the next hundred. */
export async function freePort(first: number): Promise<number> {
  for (let port = first; port < first + TRIES; port++) if (await isFree(port)) return port;
  throw new PosthasteError(
    `A port from ${first} to ${first + TRIES - 1} must be free on 127.0.0.1, and none is. Stop something that listens there.`,
  );
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer().once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

import type { PosthasteConfig } from "../config.ts";
import type { Instruments } from "../metrics/instruments.ts";
import { createTransport, type Transport } from "../transport/transport.ts";

/** Makes the transports of the configuration, their dialogues timed. */
export function openTransports(
  config: PosthasteConfig,
  instruments: Instruments,
): ReadonlyMap<string, Transport> {
  return new Map(
    [...config.transports].map(([name, settings]) => [
      name,
      timed(createTransport(name, settings, config.timeouts), instruments),
    ]),
  );
}

function timed(transport: Transport, instruments: Instruments): Transport {
  return {
    ...transport,
    async send(request) {
      const began = performance.now();
      const report = await transport.send(request);
      instruments.sent(transport.name, performance.now() - began);
      return report;
    },
  };
}

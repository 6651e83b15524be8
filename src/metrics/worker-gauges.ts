import { Gauge, type Registry } from "@prometheus-io/client";

/** What a worker process tells of itself when it is asked. */
export interface WorkerState {
  /** Mails that it is sending. */
  readonly sending: number;
  /** Outcomes that the database could not take yet. */
  readonly kept: number;
  /** Whether it has its connection to the database; without it, it claims nothing. */
  readonly connected: boolean;
  /** Whether notifications reach it; without them it polls. */
  readonly listening: boolean;
}

/** Makes the gauges of one worker process. */
export function createWorkerGauges(registry: Registry, state: () => WorkerState): void {
  const gauge = (name: string, help: string, read: (state: WorkerState) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read(state()));
      },
    });
  gauge("posthaste_sending", "Mails that this worker is sending.", ({ sending }) => sending);
  gauge(
    "posthaste_outcomes_kept",
    "Outcomes that this worker holds because the database could not take them yet.",
    ({ kept }) => kept,
  );
  gauge(
    "posthaste_connected",
    "1 while this worker has its connection to the database; without it, it claims nothing.",
    ({ connected }) => Number(connected),
  );
  gauge(
    "posthaste_listening",
    "1 while notifications reach this worker; otherwise it finds mail by polling.",
    ({ listening }) => Number(listening),
  );
}

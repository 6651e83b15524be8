import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { WorkerEvents } from "graphile-worker";
import type { PosthasteConfig } from "../config.ts";
import { createPool } from "../database/pool.ts";
import { createStore, type Store } from "../database/store.ts";
import { PosthasteError } from "../errors.ts";
import { describeError, type Log } from "../log.ts";
import type { Expose } from "../metrics/metrics.ts";
import { findStray, type Stray } from "../templates/stray.ts";
import { openFiles } from "./attachments.ts";
import { createBreaker } from "./breaker.ts";
import { createDeliver, type Deliver } from "./deliver.ts";
import { startHeartbeat } from "./heartbeat.ts";
import { checkIdentity } from "./identity.ts";
import { createLeases, patienceFor } from "./leases.ts";
import { startLoop } from "./loop.ts";
import { createMaintenance } from "./maintenance.ts";
import { createMeasuring } from "./measuring.ts";
import { openJournal } from "./open-journal.ts";
import { loadCatalog, published } from "./published-templates.ts";
import { createPurger } from "./purger.ts";
import { createRecorder } from "./recorder.ts";
import { keepRegistered } from "./registration.ts";
import { openRendering } from "./rendering.ts";
import { reportOutcome } from "./report-outcome.ts";
import { allEnd, settle } from "./settle.ts";
import { storeSettings } from "./store-settings.ts";
import { openTransports } from "./transports.ts";

/** Everything between a job and a mail, for one process and one database. */
export interface Engine {
  readonly store: Store;
  /** The log that it was given, each line counted for the metrics. */
  readonly log: Log;
  /** Answers a scrape of its metrics. */
  readonly expose: Expose;
  /** Takes one email on its way; see `createDeliver`. Rejects when no mail may be claimed at the moment. */
  deliver(id: string): Promise<void>;
  /** Tells the database which Graphile Worker pool is ours, so that jobs of dead ones are known, and watches its listener. */
  attachPool(poolId: string, events: WorkerEvents): void;
  detachPool(): void;
  /** Which template threw this out of turn, in a timer for example; null when none did. */
  strayOf(error: unknown): Stray | null;
  /** Begins to remove old mail, as `retention` says, unless it is doing so. */
  purge(): void;
  /**
   * Claims no more, waits for what is being sent, gives back what was not handed over when `shutdownGrace` is over, and
   * closes every connection. Resolves with whether all that the mail servers accepted is on record.
   */
  stop(): Promise<boolean>;
}

/** What an engine is made of. */
export interface EngineOptions {
  readonly config: PosthasteConfig;
  readonly connectionString: string;
  readonly log: Log;
  /** Read templates again when they change. Default false. */
  readonly watch?: boolean | undefined;
  /** Told the name of each template whose module runs in this process, until what it returns is called. */
  readonly importing?: ((template: string) => () => void) | undefined;
}

/** Loads templates, makes transports, registers the worker and starts its timers. Throws a PosthasteError when something is not as it must be. */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const { config, connectionString, watch } = options;
  const id = `${hostname().slice(0, 40)}-${process.pid}-${randomBytes(4).toString("hex")}`;
  const knowsTemplate = (name: string) => catalog.get(name) !== undefined;
  const measuring = await createMeasuring({ config, connectionString, log: options.log, knowsTemplate });
  const { log, instruments, expose } = measuring;
  const transports = openTransports(config, instruments);
  const publish = () => {
    store.publishTemplates(published(catalog)).catch(said("maintenance_failed"));
  };
  const catalog = await loadCatalog(config, log, watch ?? false, publish, options.importing);
  // Claims, hand-overs, outcomes and the timers each need one at a time.
  const pool = createPool({
    connectionString,
    applicationName: "posthaste worker",
    max: 6,
    patience: patienceFor(config.lease),
  });
  const store = createStore(pool, storeSettings(config, id));
  const files = openFiles(config, {
    connectionString,
    silence: patienceFor(config.lease),
    pin: store.pinAttachments,
  });
  const rendering = openRendering(catalog, log);
  const said = (event: Parameters<Log>[0]) => (error: unknown) => log(event, { error: describeError(error) });

  try {
    await measuring.serve();
    const installation = await checkIdentity(store, config, log);
    const journal = await openJournal({ directory: config.journal, worker: id, installation, store, log });

    const liveness = await keepRegistered({ id, config, connectionString, catalog, log });

    const leases = createLeases({
      extend: store.extendLeases,
      lease: config.lease,
      onError: said("renewal_failed"),
    });
    const recorder = createRecorder({
      write: store.recordOutcomes,
      journal,
      keepFor: config.lease * 2,
      onError: said("outcome_kept"),
      onWritten: (recorded, outcome) => reportOutcome(log, instruments, recorded, outcome),
    });
    const breaker = createBreaker({
      store,
      transports,
      log,
      onError: said("maintenance_failed"),
      onOpened: () => probes.within(config.breaker.probe),
      onClosed: () => {
        maintenance.hasten();
        maintenanceLoop.within(0);
      },
    });
    const deliver = createDeliver({
      config,
      catalog,
      transports,
      instruments,
      files,
      log,
      rendering,
      crashesOf: store.crashesOf,
      store,
      leases,
      recorder,
      breaker,
      templateIsPublished: (name) => store.templateIsPublished(name),
    });

    const sending = new Set<Promise<unknown>>();
    const track: Deliver = (email, probing) => {
      const under = deliver(email, probing);
      sending.add(under);
      return under.finally(() => sending.delete(under));
    };

    const interval = config.maintenanceInterval;
    const timers = {
      pauseAfterError: Math.min(interval, 1_000),
      onError: said("maintenance_failed"),
    };
    const { onError } = timers;
    const heartbeat = startHeartbeat({ worker: id, store, liveness, interval, log, onError });
    const maintenance = createMaintenance({ store, interval, log, instruments });
    const maintenanceLoop = startLoop(async () => {
      // What this process knows comes before what maintenance must guess from a lease that ran out while the database was away.
      await recorder.flush();
      return maintenance.run();
    }, timers);
    const probes = startLoop(
      async () => Math.min((await breaker.probe(track)) ?? interval, interval),
      timers,
    );

    const purger = createPurger({ connectionString, config, log });
    measuring.tell(() => ({
      sending: sending.size,
      kept: recorder.kept,
      connected: liveness.alive,
      listening: heartbeat.listening,
    }));
    let stopping = false;
    return {
      store,
      log,
      expose,
      async deliver(email) {
        if (stopping || !liveness.alive)
          throw new PosthasteError("No mail is claimed at the moment; the job comes again.");
        await track(email);
      },
      attachPool: heartbeat.attachPool,
      detachPool: heartbeat.detachPool,
      strayOf: (error) => findStray(error, catalog.list()),
      purge: purger.start,
      async stop() {
        stopping = true;
        const until = performance.now() + config.shutdownGrace;
        const probed = probes.close();
        await Promise.all([
          settle(sending, leases, config.shutdownGrace),
          maintenanceLoop.close(),
          heartbeat.close(),
          purger.close(),
        ]);
        leases.close();
        const lost = await recorder.close(until);
        if (lost.length > 0)
          log("outcomes_lost", { count: lost.length, ids: lost.map((outcome) => outcome.id) });
        await allEnd([probed, ...[...transports.values()].map((transport) => transport.close())]);
        await rendering.thread.close();
        await catalog.close();
        await liveness.close();
        await measuring.close();
        await files.close();
        await pool.end();
        return lost.length === 0;
      },
    };
  } catch (error) {
    await measuring.close();
    await files.close();
    await pool.end();
    await rendering.thread.close();
    await catalog.close();
    throw error;
  }
}

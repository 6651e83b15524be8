import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../../src/database/pool.ts";
import { createLog } from "../../src/log.ts";
import { keepAlive } from "../../src/worker/liveness.ts";
import { createTestDatabase } from "../database.ts";
import { eventually } from "../faults/eventually.ts";

const NAME = "posthaste liveness test";

test("a connection that comes after the worker has closed is ended, so that the process can end", async (t) => {
  const database = await createTestDatabase(t);
  const open = () => database.query("select pid from pg_stat_activity where application_name = $1", [NAME]);
  const late = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let connections = 0;
  let ended = 0;
  const liveness = await keepAlive({
    async connect() {
      connections += 1;
      if (connections === 2) {
        asked.resolve();
        await late.promise;
      }
      const client = await connect({ connectionString: database.connectionString, applicationName: NAME });
      return client.once("end", () => {
        ended += 1;
      });
    },
    register: async () => undefined,
    log: createLog({ stream: process.stderr, format: "json" }),
  });
  const [first] = await open();
  await database.query("select pg_terminate_backend($1)", [first.pid]);
  await asked.promise;
  const closed = liveness.close();
  late.resolve();
  await closed;
  await eventually("both connections have ended", () => ended === 2);
  assert.equal(liveness.alive, false);
});

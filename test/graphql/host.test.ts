import "./environment.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeSchema } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import { grafast } from "postgraphile/grafast";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";
import { PosthasteGraphilePreset } from "posthaste";
import { createTestDatabase } from "../database.ts";
import { enqueue } from "../sql/mails.ts";

test("in an application's own PostGraphile both work, and an order's mail hangs by its own policies", async (t) => {
  const database = await createTestDatabase(t);
  await database.query(`
    create table public.orders (id int primary key, number text not null, customer text not null);
    alter table public.orders enable row level security;
    create policy own on public.orders using (customer = current_setting('posthaste.owner', true));
    insert into public.orders values (1, 'A-1', 'customer:7'), (2, 'A-2', 'customer:8')`);
  const login = await database.login({ attributes: "noinherit" });
  const visitor = await database.login();
  await database.query(
    `grant ${visitor.name} to ${login.name}; grant posthaste_viewer to ${visitor.name}; grant select on public.orders to ${visitor.name}`,
  );
  const mail = await enqueue(database.pool, { reference: "order:1", owner: "customer:7" });
  await enqueue(database.pool, { reference: "order:2", owner: "customer:8" });

  const { schema, resolvedPreset } = await makeSchema({
    extends: [PostGraphileAmberPreset, PosthasteGraphilePreset],
    pgServices: [
      makePgService({
        connectionString: login.connectionString,
        schemas: ["public"],
        pgSettings: () => ({ role: visitor.name, "posthaste.owner": "customer:7" }),
      }),
    ],
  });
  try {
    const result = await grafast({
      schema,
      resolvedPreset,
      requestContext: {},
      source:
        "{ allOrders { nodes { number } } emails { nodes { id rowStatus: status to } } queueStats { pending } }",
    });
    assert.ok("data" in result);
    const data = JSON.parse(JSON.stringify(result.data));
    assert.deepEqual(data, {
      allOrders: { nodes: [{ number: "A-1" }] },
      emails: { nodes: [{ id: mail, rowStatus: "PENDING", to: null }] },
      queueStats: null,
    });
    assert.deepEqual(
      result.errors?.map(({ message }) => message),
      ["Your role may not read or do that.", "Your role may not read or do that."],
    );
  } finally {
    for (const service of resolvedPreset.pgServices ?? []) await service.release?.();
  }
});

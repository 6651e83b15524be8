import "./environment.ts";
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type GraphQLSchema, isInputObjectType, isObjectType, printSchema, printType } from "graphql";
import { makeSchema } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";
import { PostGraphileRelayPreset } from "postgraphile/presets/relay";
import { makeV4Preset } from "postgraphile/presets/v4";
import { PosthasteGraphilePreset } from "posthaste";
import { createTestDatabase } from "../database.ts";
import { schemaOfServer } from "./own-schema.ts";

const FILE = join(import.meta.dirname, "schema.graphql");
const database = await createTestDatabase();
await database.query("create table public.customers (id int primary key, name text)");

const own = await schemaOfServer(database.pool);

async function schemaOf(preset: GraphileConfig.Preset): Promise<GraphQLSchema> {
  return (await makeSchema(preset)).schema;
}

test("the schema is the one in schema.graphql", () => {
  const printed = `${printSchema(own)}\n`;
  // POSTHASTE_UPDATE=1 writes it anew; read the difference before you commit it.
  if (process.env.POSTHASTE_UPDATE === "1") writeFileSync(FILE, printed);
  assert.equal(printed, readFileSync(FILE, "utf8"));
});

test("everything in the schema has a description", () => {
  const bare: string[] = [];
  for (const type of Object.values(own.getTypeMap())) {
    if (type.name.startsWith("__") || ["String", "Boolean", "ID", "Int", "Float"].includes(type.name))
      continue;
    if (!type.description) bare.push(type.name);
    if (!isObjectType(type) && !isInputObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (!field.description) bare.push(`${type.name}.${field.name}`);
    }
  }
  assert.deepEqual(bare, []);
});

const HOSTS: Readonly<Record<string, GraphileConfig.Preset>> = {
  Amber: PostGraphileAmberPreset,
  Relay: { extends: [PostGraphileAmberPreset, PostGraphileRelayPreset] },
  V4: { extends: [PostGraphileAmberPreset, makeV4Preset()] },
};

for (const [name, preset] of Object.entries(HOSTS)) {
  test(`the names are the same in a host with the preset ${name}, which keeps its own`, async () => {
    const host = await schemaOf({
      extends: [preset, PosthasteGraphilePreset],
      pgServices: [makePgService({ pool: database.pool, schemas: ["public"] })],
    });
    for (const type of Object.values(own.getTypeMap())) {
      if (
        !/^(Email|Queue|Transport|Template$|Operator|Action|Refusal|Rendered|Capped|Enqueue)/.test(type.name)
      )
        continue;
      const there = host.getType(type.name);
      assert.ok(there, type.name);
      if (type.name !== "Email") assert.equal(printType(there), printType(type));
    }
    const [mine, theirs] = [own, host].map((schema) => schema.getType("Email"));
    assert.ok(isObjectType(mine) && isObjectType(theirs));
    assert.deepEqual(Object.keys(theirs.getFields()).sort(), Object.keys(mine.getFields()).sort());
    for (const root of ["getQueryType", "getMutationType"] as const) {
      const names = Object.keys(own[root]()?.getFields() ?? {}).filter(
        (field) => !/^(node|emailByNodeId)$/.test(field),
      );
      const fields = host[root]()?.getFields() ?? {};
      assert.deepEqual(
        names.filter((field) => !(field in fields)),
        [],
      );
    }
    assert.ok(host.getType("Customer"), "the host's own table");
  });
}

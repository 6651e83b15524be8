import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startEmbedded } from "../../src/database/embedded.ts";
import { startServer } from "../server.ts";
import { accepts, query, temporaryFolder } from "./one-query.ts";

test("starts a PostgreSQL of UTF8 on 127.0.0.1 only, and leaves nothing when it is stopped", async () => {
  const database = await startEmbedded({ settings: { fsync: "off" } });
  const [row] = await query(
    database.connectionString,
    `select lower('Ä') as lower, current_setting('server_encoding') as encoding, current_setting('listen_addresses') as addresses,
       current_setting('fsync') as fsync, current_setting('data_directory') as data`,
  );
  const { data, ...rest } = row;
  assert.deepEqual(rest, { lower: "ä", encoding: "UTF8", addresses: "127.0.0.1", fsync: "off" });
  assert.equal(database.directory, null);
  await database.stop();
  assert.equal(await accepts(database.connectionString), false);
  assert.equal(existsSync(join(data, "..")), false);
});

test("asks for a password", async (t) => {
  const database = await startEmbedded({ settings: { fsync: "off" } });
  t.after(() => database.stop());
  const url = new URL(database.connectionString);
  url.password = "guessed";
  await assert.rejects(query(url.href, "select 1"), { code: "28P01" });
});

test("a directory keeps the data, belongs to the server's user alone and cannot be used twice at once", async (t) => {
  const folder = await temporaryFolder(t);
  const directory = join(folder, "kept");
  const first = await startEmbedded({ directory });
  t.after(() => first.stop());
  assert.equal(first.directory, directory);
  assert.equal((await stat(directory)).mode & 0o077, 0);
  await query(first.connectionString, "create table kept as select 1 as n");
  await assert.rejects(startEmbedded({ directory }), /already exists[\s\S]*Another process uses this folder/);
  assert.deepEqual(await query(first.connectionString, "select n from kept"), [{ n: 1 }]);
  await first.stop();
  const second = await startEmbedded({ directory });
  t.after(() => second.stop());
  assert.deepEqual(await query(second.connectionString, "select n from kept"), [{ n: 1 }]);
});

test("a directory that the server's user cannot enter is replaced by one in /var/tmp, and that is said", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("only root starts it as another user");
  const closed = await temporaryFolder(t, 0o700);
  const lines: string[] = [];
  const directory = join(closed, "kept");
  const database = await startEmbedded({ directory, announce: (line) => lines.push(line) });
  t.after(async () => {
    await database.stop();
    await rm(database.directory ?? "", { recursive: true });
  });
  assert.match(database.directory ?? "", /^\/var\/tmp\/posthaste-[0-9a-f]{12}$/);
  assert.deepEqual(lines, [
    `The system user postgres cannot enter ${directory}: the data is kept in ${database.directory}.`,
  ]);
});

test("a server for tests crashes with stop(immediate) and recovers with start on the same port", async (t) => {
  const server = await startServer();
  t.after(() => server.close());
  await query(server.connectionString, "create table kept as select 1 as n");
  await server.stop("immediate");
  assert.equal(await accepts(server.connectionString), false);
  await server.start();
  assert.deepEqual(await query(server.connectionString, "select n from kept"), [{ n: 1 }]);
  assert.match(await readFile(server.log, "utf8"), /database system was not properly shut down/);
});

test("a port that is taken gives the reason from the server's log", async (t) => {
  const server = await startServer();
  t.after(() => server.close());
  const port = Number(new URL(server.connectionString).port);
  await assert.rejects(startEmbedded({ port }), {
    name: "PosthasteError",
    message: /Address already in use/,
  });
});

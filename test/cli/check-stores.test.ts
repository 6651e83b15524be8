import assert from "node:assert/strict";
import { test } from "node:test";
import { folder, posthaste } from "./posthaste.ts";

test("check says whether the folder of each store can be read, and leaves that out with --no-connect", async (t) => {
  const stores = `stores: { invoices: { folder: "./invoices" }, reports: { folder: "./missing" } }`;
  const directory = folder(t, {
    "graphile.config.mjs": `export default { posthaste: { from: "a@shop.example", transports: { default: { url: "smtp://127.0.0.1:1" } }, ${stores} } };`,
    "emails/hello.tsx": 'export const subject = "Hello"; export default () => <p>Hello</p>;',
    "invoices/1.pdf": "",
  });
  const { stdout, code } = await posthaste(directory, ["check"]);
  assert.match(stdout, /^ok {4}store invoices: \S+invoices can be read\.$/m);
  assert.match(
    stdout,
    /^ERROR store reports: \S+missing cannot be read: ENOENT\. Make the folder, correct posthaste\.stores/m,
  );
  assert.equal(code, 1);
  assert.doesNotMatch((await posthaste(directory, ["check", "--no-connect"])).stdout, /store/);
});

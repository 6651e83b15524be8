import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { claimed, enqueue, record } from "../sql/mails.ts";
import { serve } from "./serving.ts";

let stop = async () => {};
after(() => stop());
const database = await createTestDatabase();
const { pool } = database;
const { ask, stop: end } = await serve(database);
stop = end;

const RENDERED =
  "query ($id: UUID!) { email(id: $id) { renderedEmail { subject html text templateVersion templateHasChanged errorCode errorMessage } } }";

async function rendered(id: string) {
  const { data, errors } = await ask(RENDERED, { id });
  assert.equal(errors, undefined);
  return data.email.renderedEmail;
}

test("shows a mail as it would be rendered now, and marks one that was sent with another version", async () => {
  const parameters = { number: "A-1001", customer_name: "Jane" };
  const waiting = await rendered(await enqueue(pool, { parameters }));
  assert.equal(waiting.subject, "Order A-1001 is confirmed");
  assert.match(waiting.html, /Jane/);
  assert.match(waiting.text, /A-1001/);
  assert.equal(waiting.templateHasChanged, null);
  for (const version of [waiting.templateVersion, "0000000000000000"]) {
    const lease = await claimed(pool, { parameters });
    await record(pool, lease, { kind: "sent", accepted: [1], template_version: version, phase: "final_dot" });
    assert.equal((await rendered(lease.id)).templateHasChanged, version !== waiting.templateVersion);
  }
});

test("masks secret parameters, whatever the template demands of them", async () => {
  const parameters = {
    code: "918273",
    expires_at: "2040-01-01T00:00:00Z",
    minutes: 10,
    customer_name: "Jane",
  };
  const shown = await rendered(await enqueue(pool, { template: "login-code", parameters }));
  assert.equal(shown.errorCode, null, shown.errorMessage);
  assert.doesNotMatch(JSON.stringify(shown), /918273|9 ?1 ?8 ?2 ?7 ?3/);
});

test("says why a mail cannot be rendered", async () => {
  const wrong = await rendered(await enqueue(pool, { parameters: {} }));
  assert.equal(wrong.errorCode, "parameters_invalid");
  assert.match(wrong.errorMessage, /number/);
  const none = await rendered(
    await enqueue(pool, { template: "__proto__/x" }).catch(() => enqueue(pool, { template: "none" })),
  );
  assert.equal(none.errorCode, "template_not_found");
});

test("parameters themselves are in no answer", async () => {
  const { errors } = await ask("{ emails { nodes { parameters } } }");
  assert.match(errors[0].message, /Cannot query field/);
});

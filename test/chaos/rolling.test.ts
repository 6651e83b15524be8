import assert from "node:assert/strict";
import { test } from "node:test";
import { describeRolling, rollingDeploy } from "./rolling.ts";

test("a deploy that rolls under load, with its migration, loses nothing, doubles nothing and stops nobody", async (t) => {
  const found = await rollingDeploy({ restarts: 6, pause: 20, held: 300 });
  for (const line of describeRolling(found)) t.diagnostic(line);
  const { lost, secondCopies, flagged, broken, failures } = found;
  assert.deepEqual(
    { lost, secondCopies, flagged, broken, failures },
    { lost: 0, secondCopies: 0, flagged: 0, broken: {}, failures: [] },
    JSON.stringify(found.ledger),
  );
  assert.ok(
    found.exits.every(({ code }) => code === 0),
    JSON.stringify(found.exits),
  );
  assert.deepEqual(Object.keys(found.ends), ["arriving SENT", "leaving SENT", "plain SENT"]);
  assert.equal(found.versions, 2, "mail was sent with both versions of a template that changed");
  // Mail of a template that only others have waits for them; nothing else is worth a word.
  const waited = "email_retried template_not_found";
  assert.deepEqual(
    Object.keys(found.complaints).filter((complaint) => complaint !== waited),
    [],
  );
  assert.equal(found.tooEarly.code, 1);
  assert.match(
    found.tooEarly.said,
    /lacks \d+-campaign\.sql, \d+-region\.sql, functions: run `posthaste migrate`/,
  );
  assert.equal(found.tooLate.code, 57);
  assert.match(found.tooLate.said, /newer than this program.*Run that version or a later one/);
});

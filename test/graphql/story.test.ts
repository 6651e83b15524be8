import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { openShop, type RunningCommand } from "../cli/shop.ts";
import { type Serving, serve } from "./serving.ts";

const EMAIL = "query ($id: UUID!) { email(id: $id) { status sentAt errorCode } }";

test("a client sees mail on its way, finds failures by cause, and sends them again after a dry run", async (t) => {
  let refuses = false;
  const shop = await openShop(t, {
    smtp: { script: { rcpt: () => (refuses ? "550 5.1.1 no such user" : undefined) } },
  });
  const serving = await serve(shop.database);
  let worker: RunningCommand | undefined;
  try {
    await tell(
      serving,
      () => {
        worker = shop.start("worker");
      },
      (value) => {
        refuses = value;
      },
    );
  } finally {
    // Before the shop's own clean-up, which drops the database.
    worker?.child.kill("SIGTERM");
    await worker?.ended;
    await serving.stop();
  }
});

async function tell(
  { ask }: Serving,
  startWorker: () => void,
  setRefusing: (refuses: boolean) => void,
): Promise<void> {
  const enqueue = async (number: number): Promise<string> => {
    const { data, errors } = await ask(
      "mutation ($input: EnqueueEmailInput!) { enqueueEmail(input: $input) { email { id status } refusal { message } } }",
      {
        input: {
          template: "welcome",
          to: [`ada${number}@customer.example`],
          parameters: { name: "Ada" },
          reference: "order:1",
        },
      },
    );
    assert.equal(errors, undefined);
    // Once a worker runs it may already be through with it.
    if (number === 1) assert.equal(data.enqueueEmail.email.status, "PENDING");
    return data.enqueueEmail.email.id;
  };
  const until = async (id: string, status: string): Promise<{ errorCode: string | null }> => {
    const deadline = performance.now() + 20_000;
    for (;;) {
      const { data } = await ask(EMAIL, { id });
      if (data.email.status === status) return data.email;
      assert.ok(performance.now() < deadline, `${status}; it is ${data.email.status}`);
      await delay(50);
    }
  };
  const first = await enqueue(1);
  startWorker();
  assert.equal((await until(first, "SENT")).errorCode, null);

  setRefusing(true);
  const failing = [await enqueue(2), await enqueue(3)];
  for (const id of failing) assert.equal((await until(id, "FAILED")).errorCode, "recipient_refused");
  const listed = await ask(
    `{ emails(filter: { status: [FAILED] }) { nodes { id to errorCode errorSentence errorMessage attempts { outcome smtpCode } } } }`,
  );
  assert.deepEqual(listed.data.emails.nodes.map(({ id }: { id: string }) => id).sort(), [...failing].sort());
  for (const node of listed.data.emails.nodes) {
    assert.match(node.errorMessage, /550/);
    assert.deepEqual(node.attempts, [{ outcome: "REFUSED", smtpCode: 550 }]);
  }

  setRefusing(false);
  const RETRY =
    'mutation ($dryRun: Boolean) { retryEmails(filter: { errorCode: ["recipient_refused"], reference: "order:1" }, dryRun: $dryRun) { dryRun outcomes { outcome emails } more actionId } }';
  const dry = (await ask(RETRY, { dryRun: true })).data.retryEmails;
  assert.deepEqual(dry, {
    dryRun: true,
    outcomes: [{ outcome: "would be retried", emails: 2 }],
    more: false,
    actionId: null,
  });
  const done = (await ask(RETRY)).data.retryEmails;
  assert.deepEqual(done.outcomes, [{ outcome: "retried", emails: 2 }]);
  for (const id of failing) await until(id, "SENT");
  const { data } = await ask(
    "{ operatorActions { nodes { id actor action emails outcomes { outcome emails } } } }",
  );
  assert.deepEqual(data.operatorActions.nodes, [
    { id: done.actionId, actor: "ann", action: "retry_matching", emails: 2, outcomes: done.outcomes },
  ]);
}

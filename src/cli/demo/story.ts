import { PosthasteError } from "../../errors.ts";
import { calledAs } from "../called-as.ts";
import type { Parts } from "./parts.ts";
import { duration, note, result, table, title } from "./print.ts";
import { SCHEMA } from "./shop.ts";
import { showMail } from "./show-mail.ts";

/** Plays and prints the demo, step by step. Throws a PosthasteError when it does not go as it must. */
export async function tellStory(parts: Parts): Promise<void> {
  const { shop, catcher, template } = parts;
  title("1. A shop has a table. One trigger makes an email of each new order.");
  await shop.run(SCHEMA);

  title("2. An order is saved. Its email is born in the same transaction.");
  await shop.run("begin;");
  await shop.run(order(1, "HR-20418", "Amara", "amara@customer.example"));
  await shop.run("commit;");
  note("");
  note("The shop is done, and waited for no mail server. The row's way, in time after the commit:");
  await showWay(parts, 1);
  note("");
  note("The worker's first mail also warms it up: React, its plans, the connection. The next order:");
  await shop.run(order(2, "HR-20419", "Bruno", "bruno@customer.example"));
  await showWay(parts, 2);

  title("3. What the mail server received for Amara");
  note(`Rendered from ${template} when it was sent. To look at it in your browser: ${calledAs("dev")}`);
  const received = catcher.caught.find(({ envelope }) => envelope.to.includes("amara@customer.example"));
  if (!received)
    throw new PosthasteError("The mail is SENT, but the demo's mail server has not received it.");
  showMail(received);

  title("4. An order is rolled back. Its email never existed.");
  await shop.run("begin;");
  await shop.run(order(3, "HR-20420", "Chiara", "chiara@customer.example"));
  table(await shop.ask(status(3)));
  await shop.run("rollback;");
  table(await shop.ask(status(3)));

  title("5. A customer mistyped the address. The order stands; the mail is FAILED, with the reason.");
  await shop.run(order(4, "HR-20421", "Dmitri", "dmitri@customer,example"));
  table(await shop.ask("select number, customer_name from orders where id = 4;"));
  table(await shop.ask(status(4)));
  const failed = await shop.mail(4);
  note(`Operators also see why: ${failed.error_message}.`);
  if (failed.error_code !== "recipient_invalid") {
    throw new PosthasteError(
      `The mail must be FAILED as recipient_invalid and is ${failed.status} (${failed.error_code}).`,
    );
  }

  const count = catcher.caught.length;
  if (count !== 2) throw new PosthasteError(`2 mails must have been received, and it was ${count}.`);
  title("Four orders, two of them committed with a good address: exactly 2 mails were received.");
  note(`The same parts kept running, with mail and templates in your browser: ${calledAs("dev")}`);
}

const WORDS: Readonly<Record<string, string>> = {
  PENDING: "in the queue, committed together with the order",
  SENDING: "claimed by the worker, which renders it and speaks SMTP",
  SENT: "accepted by the mail server",
};

async function showWay({ shop }: Parts, id: number): Promise<void> {
  await shop.until(id, ["SENT", "FAILED"]);
  for (const { status, after } of await shop.way(id)) {
    result(`${status.padEnd(8)} ${duration(after).padStart(7)}   ${WORDS[status] ?? ""}`);
  }
  const mail = await shop.mail(id);
  if (mail.status === "SENT") return;
  throw new PosthasteError(`The mail must be SENT and is ${mail.status}: ${mail.error_message}`);
}

function order(id: number, number: string, name: string, email: string): string {
  return `insert into orders values (${id}, '${number}', '${name}', '${email}',
  '[{"name": "Fountain pen, bottle green", "quantity": 1, "price": 48}]', 48.00);`;
}

function status(id: number): string {
  return `select template, status, error_code from posthaste.email_status(reference => 'order:${id}');`;
}

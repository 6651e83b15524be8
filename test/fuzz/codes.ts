import { createTransport } from "../../src/transport/transport.ts";
import type { Verdict } from "../../src/transport/verdict.ts";
import { judge } from "../../src/transport/verdict.ts";
import { mail } from "../transport/sending.ts";
import { type Point, plainReply } from "./answers.ts";
import { startHostileServer } from "./hostile-server.ts";

const TIMEOUTS = { connect: 5000, greeting: 5000, command: 5000, finalReply: 5000, render: 5000 };

/** The points whose code decides about a mail. */
export const DECIDING = ["greeting", "ehlo", "mail", "rcpt", "data", "dot"] as const satisfies Point[];

/**
 * Answers one mail each with every one of these codes at every point; lists the verdicts that are not of the class that
 * the code stands for.
 */
export async function wrongVerdicts(codes: readonly number[]): Promise<{ sends: number; wrong: string[] }> {
  const wrong: string[] = [];
  let sends = 0;
  for (const point of DECIDING)
    for (const code of codes) {
      const server = await startHostileServer((at) => (at === point ? plainReply(code) : null));
      const settings = { url: server.url, connections: 1, idempotencyHeader: null };
      const transport = createTransport("default", settings, TIMEOUTS);
      const verdict = judge(await transport.send(mail("1")));
      const expected = classOf(point, code);
      sends += 1;
      if (verdict.class !== expected || !agrees(verdict, point, code))
        wrong.push(`${point} ${code}: ${verdict.class} ${verdict.outcome}, not ${expected}`);
      await transport.close();
      await server.close();
    }
  return { sends, wrong };
}

/** Whose matter a code is, by its point. */
function classOf(point: (typeof DECIDING)[number], code: number): Verdict["class"] {
  const kind = Math.floor(code / 100);
  if (point === "greeting") return code === 220 ? "OK" : "HOST";
  if (point === "ehlo") return kind === 2 ? "OK" : "HOST";
  if (point === "data" ? code === 354 : kind === 2) return "OK";
  if (kind !== 4 && kind !== 5) return point === "dot" ? "UNKNOWN" : "HOST";
  if (code === 421) return "HOST";
  if (point === "dot") return "MESSAGE";
  if (code === 530) return "CONFIG";
  if (point === "rcpt") return "RECIPIENT";
  if (point === "mail" && kind === 5 && ![500, 501, 502, 503, 504, 552, 555].includes(code)) return "CONFIG";
  return "MESSAGE";
}

/** Sent only by a yes; and only 5yz ends a mail. */
function agrees({ class: about, outcome }: Verdict, point: Point, code: number): boolean {
  if (about === "OK") return outcome === "sent";
  return outcome !== "sent" && (outcome !== "failed" || (code >= 500 && code < 600)) && point !== "quit";
}

import type { Reply } from "./report.ts";

/** A question about one reply. Null, and text that is no reply, answer none with yes. */
export type Asks = (reply: Reply | null) => boolean;

// What a server calls greylisting or a rate, in replies that by their code are final (Plesk greylists with 550 5.7.1).
const SOFT = /grey-?list|gray-?list|try (it )?again|temporar|rate.?limit|too (many|fast)/i;
const RELAY = /relay(ing)?( access)? (is )?(denied|not permitted|not allowed)|unable to relay/i;
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

export const anything: Asks = () => true;
export const transient: Asks = (reply) => Math.floor((reply?.code ?? 0) / 100) === 4;
export const permanent: Asks = (reply) => Math.floor((reply?.code ?? 0) / 100) === 5;

/** One of these basic codes. */
export function code(...codes: number[]): Asks {
  return (reply) => reply?.code != null && codes.includes(reply.code);
}

/** The enhanced code, whatever its class, is of one of these subjects or details: `7`, `1.7`. */
export function detail(...details: string[]): Asks {
  return (reply) => {
    const written = reply?.enhanced?.slice(2);
    return details.some((one) => written === one || written?.startsWith(`${one}.`));
  };
}

/** Both questions. */
export function both(one: Asks, other: Asks): Asks {
  return (reply) => one(reply) && other(reply);
}

/** 552, or any x.3.4; but 552 5.2.2 is a full mailbox. */
export const tooLarge: Asks = (reply) => detail("3.4")(reply) || (code(552)(reply) && !detail("2.2")(reply));

/** 452 4.5.3 and 552 5.5.3 (RFC 5321 4.5.3.1.10): the rest goes in a transaction of its own. */
export const tooMany: Asks = (reply) =>
  code(452, 552)(reply) &&
  (detail("5.3")(reply) || (reply?.enhanced === null && /too many/i.test(reply.text)));

/** The server and we do not understand each other; a new connection may. */
export const outOfStep: Asks = code(500, 501, 502, 503, 504);

/** 550 5.7.1, or a text that asks to come again: perhaps greylisting in a hard reply's clothes. */
export const soft: Asks = (reply) => both(code(550), detail("7.1"))(reply) || SOFT.test(reply?.text ?? "");

/** A smarthost that does not know us any more. */
export const deniesRelay: Asks = (reply) => permanent(reply) && RELAY.test(reply?.text ?? "");

/** Seconds that the server asks us to wait, between 10 s and 1 h, or null: "try again in 300 seconds", "for 00:05:00". */
export function namedWait(reply: Reply | null): number | null {
  const text = reply?.text ?? "";
  const clock = /\b(?:in|for|after)\s+(\d{1,2}):(\d\d):(\d\d)\b/i.exec(text);
  if (clock) return clamp(Number(clock[1]) * 3600 + Number(clock[2]) * 60 + Number(clock[3]));
  const words =
    /\b(?:in|for|after|wait|least)\s+(\d{1,6})\s*([smh])(?:ecs?|econds?|ins?|inutes?|rs?|ours?)?\b/i;
  const said = words.exec(text);
  const unit = UNITS[said?.[2]?.toLowerCase() ?? ""];
  return said && unit ? clamp(Number(said[1]) * unit) : null;
}

function clamp(seconds: number): number {
  return Math.min(3600, Math.max(10, seconds));
}

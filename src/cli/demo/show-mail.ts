import type { CaughtMail } from "./catcher.ts";
import { note, quote } from "./print.ts";

const HEADERS = ["from", "to", "subject", "date", "message-id", "x-posthaste-id", "auto-submitted"];

/** Prints a mail as it was received: envelope, the headers that matter, the text part, and how large the HTML is. */
export function showMail({ envelope, message }: CaughtMail): void {
  note("");
  note("Envelope");
  quote(`MAIL FROM:<${envelope.from}>\n${envelope.to.map((address) => `RCPT TO:<${address}>`).join("\n")}`);
  note("Headers");
  const lines = HEADERS.flatMap((name) => message.headerLines.filter(({ key }) => key === name));
  quote(lines.map(({ line }) => line.replace(/\r?\n\s*/g, " ")).join("\n"));
  note("Text part");
  quote(message.text?.trim() ?? "");
  const bytes = message.html ? Buffer.byteLength(message.html) : 0;
  note(`HTML part: ${bytes.toLocaleString("en")} bytes`);
}

import type { Readable } from "node:stream";
import { type GateAnswer, heldBody } from "./body.ts";
import { readError } from "./failures.ts";
import {
  type Failure,
  failedReport,
  failure,
  type Phase,
  parseReply,
  type RejectedRecipient,
  type Reply,
  type SendReport,
} from "./report.ts";
import type { Session } from "./session.ts";

/** One message and who gets it. */
export interface SendRequest {
  /** Wire address of the sender. */
  readonly from: string;
  readonly recipients: readonly { readonly wire: string; readonly needsSmtpUtf8: boolean }[];
  readonly message: {
    /** Octets before dot-stuffing. */
    readonly size: number;
    stream(): Readable;
  };
  /** Asked when the server has the whole message; the final dot needs a yes that is still good when it comes. */
  gate(): Promise<GateAnswer>;
  /** Ends the send wherever it is; the connection is closed. */
  readonly signal?: AbortSignal | undefined;
}

const NOT_OFFERED: Reply = {
  code: 553,
  enhanced: "5.6.7",
  text: "The server does not offer SMTPUTF8, so the address was not tried",
};

/** One transaction on an opened session. */
export async function transact(session: Session, request: SendRequest): Promise<SendReport> {
  session.uses += 1;
  if (session.needsReset) {
    const reset = await session.reset(request.signal);
    if ("failure" in reset) return failedReport("mail", lostBefore(reset.failure));
    session.needsReset = false;
  }
  const { dialogue } = session;
  dialogue.begin();
  const offer = readOffer(dialogue.ehlo);
  if (offer.size > 0 && request.message.size > offer.size) {
    const text = `The message has ${request.message.size} octets, the server takes ${offer.size}.`;
    return failedReport("mail", failure("too_large", "ESIZE", text));
  }
  const possible = offer.smtpUtf8
    ? request.recipients
    : request.recipients.filter((one) => !one.needsSmtpUtf8);
  const impossible = request.recipients
    .filter((one) => !possible.includes(one))
    .map((one): RejectedRecipient => ({ address: one.wire, reply: NOT_OFFERED }));
  if (possible.length === 0 || (!offer.smtpUtf8 && /[^\x20-\x7e]/.test(request.from))) {
    const text = "The server does not offer SMTPUTF8, which an address of this mail needs.";
    return { ...failedReport("mail", failure("smtputf8", "ESMTPUTF8", text)), rejected: impossible };
  }

  const { end, handedOver } = await speak(session, request, possible);
  const replies = possible.map((one, index) => ({ address: one.wire, reply: dialogue.rcpt[index] }));
  const rejected = replies.flatMap(({ address, reply }) =>
    reply && !isYes(reply) ? [{ address, reply }] : [],
  );
  const accepted =
    "reply" in end ? replies.flatMap(({ address, reply }) => (reply && isYes(reply) ? [address] : [])) : [];
  const finalReply =
    "reply" in end ? end.reply : handedOver && end.failure.kind === "reply" ? end.failure.reply : null;
  const reason = "failure" in end ? end.failure : null;
  session.needsReset = reason !== null;
  return {
    phase: begunPhase(session),
    handedOver,
    finalReply,
    accepted,
    rejected: [...rejected, ...impossible],
    failure: reason,
  };
}

/** A refused RSET is about the mail before, so this one sees a connection that was lost before it began. */
function lostBefore(reason: Failure): Failure {
  if (reason.kind !== "reply" && reason.kind !== "protocol") return reason;
  return failure("connection", "ECONNECTION", `The connection could not be used again: ${reason.message}`);
}

/** With PIPELINING the reply to DATA is heard before what was refused ahead of it counts. */
function begunPhase({ dialogue, phase }: Session): Phase {
  if (phase !== "data" || dialogue.data === null) return phase;
  if (dialogue.mail && !isYes(dialogue.mail)) return "mail";
  return dialogue.rcpt.some(isYes) ? "data" : "rcpt";
}

type End = { readonly reply: Reply } | { readonly failure: Failure };

async function speak(
  session: Session,
  request: SendRequest,
  recipients: SendRequest["recipients"],
): Promise<{ end: End; handedOver: boolean }> {
  const { dialogue } = session;
  let handedOver = false;
  const outcome = await session.step<End>(request.signal, (done) => {
    const body = heldBody({
      open: () => request.message.stream(),
      gate: () => request.gate(),
      socket: () => session.socket,
      // nodemailer takes a 250 for the 354. It may be the late reply to an earlier command, and then the reply
      // that is taken for the final one would be another's, too.
      check: () =>
        dialogue.data?.code === 354
          ? null
          : failure("protocol", "EPROTOCOL", "DATA was not answered with 354."),
      onProgress: () => dialogue.start("command", "the server took nothing of the message"),
      onHeld: () => dialogue.start("command", "no answer to the question for the hand-over"),
      onHandOver: () => {
        handedOver = true;
        dialogue.phase = "final_dot";
        dialogue.start("finalReply", "no reply to the final dot");
      },
      onStop: (reason) => session.fail(reason),
    });
    const envelope = {
      from: request.from,
      to: recipients.map((one) => one.wire),
      size: request.message.size,
    };
    session.smtp.send(envelope, body, (error, info) => {
      const begun = dialogue.data?.code === 354;
      if (error) {
        const reason = readError(error, session.phase, session.mask);
        // A reply in the middle of the body leaves the session between two states, a 421 leaves none.
        const over = (begun && !handedOver) || reason.kind !== "reply" || reason.reply?.code === 421;
        if (over) session.fail(reason);
        else done({ failure: reason });
      } else if (handedOver) done({ reply: parseReply(info?.response ?? "", session.mask) });
      else
        session.fail(failure("protocol", "EPROTOCOL", "The server accepted a message that had not ended."));
    });
  });
  return { end: "failure" in outcome ? outcome : outcome.value, handedOver };
}

/** What the server offers that a transaction depends on; 0 is no limit. */
function readOffer(ehlo: string): { size: number; smtpUtf8: boolean } {
  return {
    size: Number(/^\d{3}[ -]SIZE[ \t]+(\d{1,15})/im.exec(ehlo)?.[1] ?? 0),
    smtpUtf8: /^\d{3}[ -]SMTPUTF8\b/im.test(ehlo),
  };
}

function isYes(reply: Reply): boolean {
  return reply.code !== null && reply.code >= 200 && reply.code < 300;
}

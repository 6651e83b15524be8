import type { Mask } from "./mask.ts";
import { type Failure, failure, type Phase, parseReply } from "./report.ts";

/** The fields of nodemailer's errors that say what happened. */
interface SmtpError extends Error {
  code?: string | undefined;
  /** The system's own code, where nodemailer put its in the place of it. */
  originalCode?: string | undefined;
  response?: string | undefined;
}

// OpenSSL's and Node's names of all that is wrong with a certificate, and of a server that does not speak TLS there.
const NEEDS_A_HUMAN =
  /CERT|ISSUER|SELF_SIGNED|CRL_|INVALID_(CA|PURPOSE)|PATH_LENGTH|HOSTNAME|WRONG_VERSION_NUMBER/;

/**
 * What nodemailer's error means; only the phase tells a wrong password from a lost connection. Its message repeats what the
 * server said, so `mask` takes the credentials out of both.
 */
export function readError(error: SmtpError, phase: Phase, mask: Mask): Failure {
  const reply = error.response ? parseReply(error.response, mask) : null;
  const code = error.code ?? "ESOCKET";
  const base = failure("connection", code, mask(error.message));
  if (phase === "tls") return tlsFailure(error, reply, mask);
  if (phase === "auth" && (reply || code === "EAUTH")) return { ...base, reply, kind: "auth" };
  if (reply?.code && reply.code >= 400) {
    const greeting = error.message.startsWith("Invalid greeting");
    return { ...base, reply, kind: "reply", code: greeting ? "EGREETING" : code };
  }
  if (code === "ETIMEDOUT") return { ...base, kind: "timeout" };
  if (reply || ["EPROTOCOL", "EENVELOPE", "EMESSAGE"].includes(code))
    return { ...base, reply, kind: "protocol" };
  return base;
}

const NO_TLS = failure(
  "tls",
  "ECERTIFICATE",
  "the server does not speak TLS there; use smtp://, or the port for smtps",
);

/** A failure of the handshake or of STARTTLS. */
export function tlsFailure(
  error: SmtpError,
  reply: Failure["reply"] = null,
  mask: Mask = (text) => text,
): Failure {
  const code = error.originalCode ?? error.code ?? "ETLS";
  if (/WRONG_VERSION_NUMBER|wrong version number/.test(`${code} ${error.message}`))
    return { ...NO_TLS, reply };
  const described = failure(
    "tls",
    NEEDS_A_HUMAN.test(code) ? "ECERTIFICATE" : code,
    mask(`${error.message} (${code})`),
  );
  return { ...described, reply };
}

/** A failure to find or to reach the host. */
export function socketFailure(error: SmtpError & { syscall?: string | undefined }): Failure {
  const message = error.message || `connect ${error.code}`; // An AggregateError of several addresses has no message.
  return error.syscall?.startsWith("getaddrinfo")
    ? failure("dns", "EDNS", message)
    : failure("connection", "ESOCKET", message);
}

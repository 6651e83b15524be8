import { type Failure, failure } from "./report.ts";

/**
 * Why the credentials must not be sent on this session, or null when they may. In clear they go to this very machine
 * only (a catcher, a local relay), never over a network, whatever the server offers.
 */
export function refuseLogin(
  session: { readonly secure: boolean; readonly allowsAuth: boolean },
  remoteAddress: string | undefined,
  host: string,
): Failure | null {
  if (!session.secure && !/^(127\.|::1$|::ffff:127\.)/i.test(remoteAddress ?? "")) {
    const advice = "The password is not sent in clear: use smtps://, or a server that offers STARTTLS.";
    return failure("tls", "ECLEARTEXT", `${host} offers no TLS on this port. ${advice}`);
  }
  if (session.allowsAuth) return null;
  const advice = "Take the user and password out of the URL, or use the port for submission.";
  return failure("auth", "ENOAUTH", `${host} offers no AUTH. ${advice}`);
}

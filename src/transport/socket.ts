import net, { type Socket } from "node:net";
import tls from "node:tls";
import { socketFailure, tlsFailure } from "./failures.ts";
import type { Failure } from "./report.ts";
import type { ServerSettings } from "./settings.ts";

/**
 * Opens the connection, with TLS for `smtps:`. We do it and not nodemailer, so that name, address and handshake are
 * told apart, each has its own clock, and the socket can be destroyed at any moment.
 */
export function openSocket(
  settings: ServerSettings,
  connectTimeout: number,
  on: { tls(): void; ready(socket: Socket): void; failed(failure: Failure): void },
): Socket {
  const { host, port, localAddress } = settings;
  const socket = net.connect({
    host,
    port,
    ...(localAddress === null ? {} : { localAddress }),
    // Node's quarter of a second for each address is too short for a far server with several of one family.
    autoSelectFamilyAttemptTimeout: Math.max(250, Math.floor(connectTimeout / 4)),
  });
  const failed = (error: Error) => on.failed(socketFailure(error));
  socket.once("error", failed);
  socket.once("connect", () => {
    socket.removeListener("error", failed);
    // From here on whoever uses the socket hears of errors; this only keeps a late one from ending the process.
    socket.on("error", () => {});
    if (!settings.secure) return on.ready(socket);
    on.tls();
    const servername = net.isIP(host) === 0 ? { servername: host } : {};
    const secured = tls.connect({ socket, host, ...servername, ...settings.tls });
    const refused = (error: Error) => on.failed(tlsFailure(error));
    secured.once("error", refused);
    secured.once("secureConnect", () => {
      secured.removeListener("error", refused);
      secured.on("error", () => {});
      on.ready(secured);
    });
  });
  return socket;
}

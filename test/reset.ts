import type { Socket } from "node:net";

/**
 * Ends a connection with a reset. One that is just being ended is closed without it: libuv refuses to reset it then
 * (uv_tcp_close_reset), Node.js 24 takes it for closed all the same, and its process spins for ever when it ends.
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

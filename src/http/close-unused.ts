import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Closing } from './closing.js';

/** A request that was on its way when the server was told to close arrives within this, in milliseconds. */
const GRACE_MS = 500;

/**
 * Has connections end with the server on which nothing was asked yet. A server that closes ends those that are idle between two
 * requests by itself, but for these it would wait as long as they like.
 */
export function closeUnused(server: Server, closing: Closing): void {
  const unused = new Set<Socket>();
  server.on('connection', (socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', ({ socket }) => unused.delete(socket));
  closing.onBegin(() => {
    const endAll = (): void => {
      for (const socket of unused) socket.destroy();
    };
    setTimeout(endAll, GRACE_MS);
  });
}

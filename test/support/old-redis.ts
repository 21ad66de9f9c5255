import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** A server that speaks as a Redis of another version does, as far as saying what it is. */
export async function startOldRedis(version: string): Promise<{ readonly url: string; stop(): void }> {
  const info = `redis_version:${version}\r\nrole:master\r\ncluster_enabled:0\r\n`;
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      // The client sends its commands as lists; each begins with its number of words.
      for (const command of chunk.toString().split(/(?=\*\d+\r\n)/)) {
        socket.write(/\r\ninfo\r\n/i.test(command) ? `$${info.length}\r\n${info}\r\n` : '+OK\r\n');
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `redis://127.0.0.1:${address.port}`, stop: () => void server.close() };
}

import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { RedisNode } from './redis-target.js';

/** Whether a port answers to a handshake of TLS. Nothing secret is sent, and nothing that it says is believed. */
export function speaksTls({ host, port }: RedisNode, withinMs: number): Promise<boolean> {
  return hears(connectTls({ host, port, rejectUnauthorized: false }), 'secureConnect', withinMs);
}

/** Whether a port answers to Redis' protocol in the clear. */
export function speaksPlain({ host, port }: RedisNode, withinMs: number): Promise<boolean> {
  const socket = createConnection({ host, port });
  socket.once('connect', () => socket.write('PING\r\n'));
  return hears(socket, 'data', withinMs);
}

async function hears(socket: Socket, event: string, withinMs: number): Promise<boolean> {
  socket.once('close', () => socket.emit('error', new Error('closed')));
  try {
    await once(socket, event, { signal: AbortSignal.timeout(withinMs) });
    return true;
  } catch {
    return false;
  } finally {
    socket.on('error', () => undefined);
    socket.destroy();
  }
}

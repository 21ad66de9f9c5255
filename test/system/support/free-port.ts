import { once } from 'node:events';
import { createServer } from 'node:net';

/** A loopback port on which nobody listens, for programs that cannot choose one themselves. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port could be had');
  return address.port;
}

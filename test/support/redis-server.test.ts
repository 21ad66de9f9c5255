import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, expect, test } from 'vitest';
import { startRedis, type TestRedis } from './redis-server.js';

const started: TestRedis[] = [];
const start = async (...args: Parameters<typeof startRedis>) => {
  const server = await startRedis(...args);
  started.push(server);
  return server;
};
afterEach(async () => {
  for (const server of started.splice(0)) await server.stop();
});

test('answers on its socket, forgets on flush, and leaves neither process nor folder', async () => {
  const server = await start();
  const redis = server.client();
  await redis.set('k', 'v');
  expect(await redis.get('k')).toBe('v');
  await server.flush();
  expect(await redis.dbsize()).toBe(0);
  await server.stop();
  expect(() => process.kill(server.pid, 0)).toThrow(/ESRCH/);
  expect(existsSync(server.dir)).toBe(false);
});

test('answers on a loopback port when asked for one', async () => {
  const server = await start({ port: true });
  const redis = new Redis(server.url ?? 'no url');
  expect(await redis.ping()).toBe('PONG');
  redis.disconnect();
});

test('a client reconnects to a server restarted after kill -9, which still has the data', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'hg-redis-test-'));
  const first = await start({ dir, appendonly: true });
  const redis = first.client();
  await redis.set('k', 'v');
  await first.kill();
  await start({ dir, appendonly: true });
  expect(await redis.get('k')).toBe('v');
  await first.stop();
  await rm(dir, { recursive: true });
});

test('tells why a server does not start', async () => {
  await expect(startRedis({ args: ['--no-such-option', 'x'] })).rejects.toThrow(/no-such-option/);
});

import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { openConnection } from '../../src/redis/connection.js';
import { apiKeyKey } from '../../src/redis/keys.js';
import { isPassing, RedisUnavailable } from '../../src/redis/outage.js';
import { ReplicatedScripts } from '../../src/redis/replicated.js';
import type { ScriptCall } from '../../src/redis/script.js';
import { scripts } from '../../src/shaping/override-scripts.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

const KEYS = ['hg:{overrides}:revision', 'hg:{overrides}:subjects', 'hg:{overrides}:of:a'];
const HELD = { replicas: 1, withinMs: 10_000 };

let master: TestRedis;
let replica: TestRedis;
const opened: Redis[] = [];

beforeAll(async () => {
  master = await startRedis({ port: true });
  replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(master.port)] });
  const link = replica.client();
  await vi.waitFor(async () => expect(await link.info('replication')).toContain('master_link_status:up'), 30_000);
});
afterEach(() => {
  for (const redis of opened.splice(0)) redis.disconnect();
});
afterAll(async () => {
  await replica?.stop();
  await master?.stop();
});

function open(): Redis {
  const redis = openConnection({ socketPath: master.socketPath }, { name: 'test', deadlineMs: 20_000 });
  opened.push(redis);
  return redis;
}

async function ready(): Promise<Redis> {
  const redis = open();
  await expect.poll(() => redis.status).toBe('ready');
  return redis;
}

const change = (value: string): ScriptCall<unknown> => ({
  script: scripts.override,
  keys: KEYS,
  argv: ['a', 'told', '0', 'rate', value],
});

const waits = async (): Promise<number> =>
  Number(/cmdstat_wait:calls=(\d+)/.exec(await master.client().info('commandstats'))?.[1] ?? 0);

test('a call is answered once a replica holds what it wrote', async () => {
  const replicated = new ReplicatedScripts(await ready(), HELD);
  await replicated.run(change('1'));
  const held = replica.client();
  expect(await held.hget(KEYS[2] ?? '', 'rate')).toBe('1');
});

test('calls of one moment wait together', async () => {
  const replicated = new ReplicatedScripts(await ready(), HELD);
  const before = await waits();
  await Promise.all(Array.from({ length: 20 }, (_, i) => replicated.run(change(String(i)))));
  expect((await waits()) - before).toBe(1);
});

test('a server that was flushed is given the library, and the call is done once', async () => {
  const replicated = new ReplicatedScripts(await ready(), HELD);
  const root = master.client();
  await root.function('FLUSH');
  const before = Number(await root.get(KEYS[0] ?? ''));
  await replicated.run(change('flushed'));
  expect(Number(await root.get(KEYS[0] ?? ''))).toBe(before + 1);
});

test('where too few replicas hold it in time, the call rejects as in an outage', async () => {
  const replicated = new ReplicatedScripts(await ready(), { replicas: 2, withinMs: 50 });
  const call = replicated.run(change('2'));
  await expect(call).rejects.toThrow(RedisUnavailable);
  await expect(call).rejects.toThrow('1 of 2 replicas held what was written within 50 ms');
});

test('an error is that of its own call', async () => {
  const replicated = new ReplicatedScripts(await ready(), HELD);
  await master.client().set(apiKeyKey('x'), 'no hash');
  const wrong = { ...change('3'), keys: [KEYS[0] ?? '', KEYS[1] ?? '', apiKeyKey('x')] };
  const [refused, done] = await Promise.allSettled([replicated.run(wrong), replicated.run(change('4'))]);
  expect([refused?.status, done?.status]).toEqual(['rejected', 'fulfilled']);
});

test('a call whose connection is lost ends as in an outage', async () => {
  const redis = await ready();
  const call = new ReplicatedScripts(redis, { replicas: 5, withinMs: 15_000 }).run(change('6'));
  const ended = call.catch((error: unknown) => error);
  const root = master.client();
  await expect.poll(() => root.client('LIST')).toContain('cmd=wait');
  const [, id = ''] = /id=(\d+)[^\n]*cmd=wait/.exec(String(await root.client('LIST'))) ?? [];
  await root.call('CLIENT', 'KILL', 'ID', id);
  expect(isPassing(await ended)).toBe(true);
});

test('while the server is away, every call is refused at once', async () => {
  const replicated = new ReplicatedScripts(open(), HELD);
  await expect(replicated.run(change('5'))).rejects.toThrow();
});

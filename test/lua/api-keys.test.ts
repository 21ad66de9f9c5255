import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { API_KEY_TENANTS, API_KEYS_CHANNEL, apiKeyKey } from '../../src/redis/keys.js';
import { runScript, type Script } from '../../src/redis/script.js';
import { scripts } from '../../src/shaping/api-key-scripts.js';
import { eventually } from '../support/eventually.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
beforeEach(() => server.flush());
afterAll(() => server.stop());

const run = <Reply>(script: Script<Reply>, ...argv: (string | number)[]) =>
  runScript(redis, { script, keys: [API_KEY_TENANTS], argv });
const add = (tenant: string, id: string, hash: string, most = 3) =>
  run(scripts.addKey, tenant, id, hash, 'hg_12345', most, API_KEYS_CHANNEL);
const revoke = (tenant: string, id: string) => run(scripts.revokeKey, tenant, id, API_KEYS_CHANNEL);
const use = (hash: string) => run(scripts.useKey, hash);
const allKeys = async () => (await redis.keys('*')).sort();

test('a key is stored by its hash, with its tenant’s and among the tenants', async () => {
  const before = Date.now();
  const added = await add('a%2Fb', '1', 'aa');
  expect(added?.createdAtMs).toBeGreaterThanOrEqual(before - 1000);
  expect(await redis.hgetall(apiKeyKey('aa'))).toEqual({
    ...{ tenant: 'a%2Fb', prefix: 'hg_12345', created: String(added?.createdAtMs) },
  });
  expect(await redis.hgetall('hg:{keys}:of:a%2Fb')).toEqual({ 1: 'aa' });
  expect(await redis.zrange(API_KEY_TENANTS, 0, -1)).toEqual(['a%2Fb']);
});

test('one more than allowed is not stored', async () => {
  for (const id of ['1', '2', '3']) expect(await add('a', id, `h${id}`)).toBeDefined();
  expect(await add('a', '4', 'h4')).toBeUndefined();
  expect(await redis.exists(apiKeyKey('h4'))).toBe(0);
  expect(await add('b', '4', 'h4')).toBeDefined();
});

test('a revoked key leaves nothing, and the last one of a tenant not even its name', async () => {
  await add('a', '1', 'aa');
  await add('a', '2', 'bb');
  expect(await revoke('a', '1')).toBe('aa');
  expect(await allKeys()).toEqual(['hg:{keys}:key:bb', 'hg:{keys}:of:a', 'hg:{keys}:tenants']);
  expect(await revoke('b', '2')).toBe('');
  expect(await revoke('a', '2')).toBe('bb');
  expect(await allKeys()).toEqual([]);
  expect(await revoke('a', '2')).toBe('');
});

test('every process is told which key was made or revoked', async () => {
  const heard: string[] = [];
  const listener = server.client();
  listener.on('smessage', (_channel: string, hash: string) => heard.push(hash));
  await listener.ssubscribe(API_KEYS_CHANNEL);
  await add('a', '1', 'aa');
  await revoke('a', '1');
  await revoke('a', '1');
  await eventually(() => expect(heard).toEqual(['aa', 'aa']));
});

test('a use is noted once a minute', async () => {
  await add('a', '1', 'aa');
  expect(await use('aa')).toBe(true);
  expect(await use('aa')).toBe(false);
  await redis.hset(apiKeyKey('aa'), 'used', Date.now() - 61_000);
  expect(await use('aa')).toBe(true);
});

test('a use of a key that was revoked brings nothing back', async () => {
  expect(await use('aa')).toBe(false);
  expect(await allKeys()).toEqual([]);
});

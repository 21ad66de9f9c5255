import { expect, test } from 'vitest';
import { encodeTenant } from '../../src/redis/keys.js';
import { scripts } from '../../src/shaping/scripts.js';
import type { Outcome } from '../../src/shaping/work-source.js';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';

const redis = redisForTests();
const erase = (shard: ScriptShard, tenant = 'a', limit = 100) =>
  shard.run(scripts.erase, [shard.nowUs, encodeTenant(tenant), limit]);
const completed: Outcome = { kind: 'completed', value: '"secret result"' };
const UNLIMITED = { ratePerSecond: Infinity };

/** Keys that hold something of the tenant's jobs: all but the bucket's own numbers and what the shard shares. */
const keysOf = async (shard: ScriptShard) => (await shard.keys()).filter((key) => /^(q:a|idem:a):(?!pc$)/.test(key));

test('what waits, is delayed, ended or failed is gone, idempotency keys too; another tenant keeps its own', async () => {
  const shard = redis.shard();
  await shard.admit('b', [{ id: 'other', idempotencyKey: 'k' }], UNLIMITED);
  await shard.take('tb');
  const jobs = [{ id: 'done', idempotencyKey: 'k' }, { id: 'fails' }, { id: 'waits', idempotencyKey: 'k2' }];
  await shard.admit('a', [...jobs, { id: 'later', delayMs: 60_000, startByMs: shard.nowMs + 90_000 }], UNLIMITED);
  await shard.take('t1');
  await shard.settle({ token: 't1', tenant: 'a', id: 'done' }, completed);
  await shard.take('t2');
  await shard.settle({ token: 't2', tenant: 'a', id: 'fails' }, { kind: 'failed', value: 'secret reason' });
  expect(await erase(shard)).toEqual({ erased: 4, remain: 0, running: 0, cancelled: 2 });
  expect(await keysOf(shard)).toEqual([]);
  expect(await shard.inspect('a')).toMatchObject({ waiting: 0, delayed: 0, waitingCost: 0, waitingBytes: 0 });
  expect((await shard.read('b', 'other'))?.state).toBe('active');
  // The bucket itself is kept until it is ahead of nobody.
  await shard.settle({ token: 'tb', tenant: 'b', id: 'other' }, completed);
  for (let second = 0; second < 3; second += 1) {
    shard.nowUs += 1_000_000;
    await shard.sweep();
  }
  expect((await shard.keys()).filter((key) => /(^|:)a($|:)/.test(key))).toEqual([]);
});

test.each<[string, Outcome]>([
  ['completes', completed],
  ['fails', { kind: 'failed', value: 'secret reason' }],
  ['is cancelled', { kind: 'cancelled', value: 'cancelled' }],
])('what runs may end, and is gone when it %s', async (_, outcome) => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'r', idempotencyKey: 'k' }], UNLIMITED);
  await shard.take('t');
  expect(await erase(shard)).toEqual({ erased: 0, remain: 0, running: 1, cancelled: 0 });
  expect(await shard.settle({ token: 't', tenant: 'a', id: 'r' }, outcome)).toMatchObject({ verdict: 'settled' });
  expect(await keysOf(shard)).toEqual([]);
});

test('what is tried again after an erasure is gone when it ends', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'r' }], UNLIMITED);
  await shard.take('t1');
  await erase(shard);
  await shard.settle({ token: 't1', tenant: 'a', id: 'r' }, { kind: 'retry', value: '', delayMs: 0, front: true });
  await shard.take('t2');
  await shard.settle({ token: 't2', tenant: 'a', id: 'r' }, completed);
  expect(await keysOf(shard)).toEqual([]);
});

test('what stalled to its end is gone, too', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'r' }], UNLIMITED);
  await shard.take('t');
  await erase(shard);
  await shard.dropLock('a', 'r');
  await shard.recover(0);
  expect(await keysOf(shard)).toEqual([]);
});

test('many go in several calls, which say what remains', async () => {
  const shard = redis.shard();
  await shard.admit(
    'a',
    Array.from({ length: 25 }, (_, i) => ({ id: `j${i}` })),
    UNLIMITED,
  );
  expect(await erase(shard, 'a', 10)).toEqual({ erased: 10, remain: 15, running: 0, cancelled: 10 });
  await erase(shard, 'a', 10);
  expect(await erase(shard, 'a', 10)).toEqual({ erased: 5, remain: 0, running: 0, cancelled: 5 });
  expect(await keysOf(shard)).toEqual([]);
});

test('a tenant of whom nothing is known may be erased', async () => {
  const shard = redis.shard();
  expect(await erase(shard)).toEqual({ erased: 0, remain: 0, running: 0, cancelled: 0 });
  expect(await shard.keys()).not.toContain('bucket:a');
});

import { describe, expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';
import { followServer, shapedQueue } from './shaped-queue.js';

const redis = redisForTests();
const UNLIMITED = { ratePerSecond: Infinity };
const SHARED = ['events', 'type'];

/** Two tenants with the same jobs: one runs, two wait, one is delayed, one failed. */
async function twoTenants(shard: ScriptShard) {
  const queue = await shapedQueue(shard, 'a', UNLIMITED);
  for (const tenant of ['a', 'b']) {
    await shard.admit(tenant, [{ id: 'f' }, { id: 'r' }], UNLIMITED);
    for (const token of [`${tenant}1`, `${tenant}2`]) await shard.take(token);
    await shard.settle({ token: `${tenant}1`, tenant, id: 'f' }, { kind: 'failed', value: 'x' });
  }
  for (const tenant of ['a', 'b']) {
    const waiting = [{ id: 'j1', cost: 5, data: '"xyz"' }, { id: 'j2' }];
    await shard.admit(tenant, [...waiting, { id: 'd', delayMs: 60_000 }], UNLIMITED);
  }
  return queue;
}

const FULL = { waiting: 2, delayed: 1, running: 1, waitingCost: 6, waitingBytes: 9 };

describe.each([
  { title: 'drain', delayed: false, left: { ...FULL, waiting: 0, waitingCost: 0, waitingBytes: 2 } },
  {
    title: 'drain of delayed jobs too',
    delayed: true,
    left: { ...FULL, waiting: 0, delayed: 0, waitingCost: 0, waitingBytes: 0 },
  },
])('$title', ({ delayed, left }) => {
  test('what waits is gone and what is left is counted; another tenant keeps all', async () => {
    const shard = redis.shard();
    const queue = await twoTenants(shard);
    await queue.drain(delayed);
    expect(await shard.inspect('a')).toMatchObject(left);
    expect(await shard.inspect('b')).toMatchObject(FULL);
    expect(await shard.typeField('running')).toBe(2);
    await followServer(shard);
    expect(await shard.take('t9')).toBe('b j1');
  });
});

test('clean removes ended jobs alone', async () => {
  const shard = redis.shard();
  const queue = await twoTenants(shard);
  await followServer(shard);
  expect(await queue.clean(0, 10, 'failed')).toEqual(['f']);
  expect(await shard.inspect('a')).toMatchObject(FULL);
  expect((await shard.page('b', 'failed')).ids).toEqual(['f']);
});

test('obliterate leaves nothing of the tenant, and everything of the others', async () => {
  const shard = redis.shard();
  const queue = await twoTenants(shard);
  await queue.pause();
  await queue.obliterate({ force: true });
  await shard.pause('a', false);
  expect(await shard.typeField('running')).toBe(1);
  expect(await shard.inspect('b')).toMatchObject(FULL);
  for (const key of SHARED) expect(await shard.redis.exists(shard.key(key))).toBe(1);
  await shard.settle({ token: 'a2', tenant: 'a', id: 'r' }, { kind: 'completed', value: '1' });
  // What the tenant was served counts until virtual time has passed it.
  expect(await shard.take('b3')).toBe('b j1');
  shard.nowUs += 2 * 3_600_000_000;
  await shard.sweep();
  const left = (await shard.keys()).filter((key) => key === 'bucket:a' || key.startsWith('q:a:'));
  expect(left).toEqual([]);
});

test('obliterate of a queue that is not paused is refused, and changes nothing', async () => {
  const shard = redis.shard();
  const queue = await twoTenants(shard);
  await expect(queue.obliterate()).rejects.toThrow();
  expect(await shard.inspect('b')).toMatchObject(FULL);
  expect(await shard.redis.exists(shard.key('paused'))).toBe(0);
});

test('a tenant whose last jobs were drained is forgotten', async () => {
  const shard = redis.shard();
  const queue = await shapedQueue(shard, 'a', { ratePerSecond: 1 });
  await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], { ratePerSecond: 1 });
  await queue.drain();
  await followServer(shard);
  shard.nowUs += 61_000_000;
  expect((await shard.sweep()).forgotten).toBe(1);
  expect((await shard.keys()).filter((key) => !SHARED.includes(key))).toEqual([]);
});

import { describe, expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';

const redis = redisForTests();
const SECOND = 1_000_000;

test('a survey finds of each bucket what looking at it alone does, in the order that was asked', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'a1', cost: 3 }, { id: 'a2' }], { ratePerSecond: 2 });
  await shard.admit('b/c', [{ id: 'b1', delayMs: 50 }]);
  await shard.take('t1');
  shard.nowUs += SECOND / 4;
  const found = await shard.survey(['b/c', 'nobody', 'a']);
  for (const [i, tenant] of ['b/c', 'nobody', 'a'].entries())
    expect(found[i]).toMatchObject(await shard.inspect(tenant));
  expect(found.map(({ longestMs }) => longestMs)).toEqual([null, null, 250]);
  expect(await shard.survey([])).toEqual([]);
});

test('it changes nothing, and makes nothing of buckets that are not there', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'a1' }]);
  const before = await shard.keys();
  await shard.survey(['a', 'nobody']);
  expect(await shard.keys()).toEqual(before);
});

test('a bucket is paused by hand, or by a rate of 0', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'a1' }]);
  await shard.admit('still', [{ id: 's1' }], { ratePerSecond: 0 });
  await shard.pause('a', true);
  expect((await shard.survey(['a', 'still'])).map(({ paused }) => paused)).toEqual([true, true]);
  await shard.pause('a', false);
  expect((await shard.survey(['a', 'still'])).map(({ paused }) => paused)).toEqual([false, true]);
});

test('a bucket is held for as long as its busy upstream asked for', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'a1' }, { id: 'a2' }], { ratePerSecond: Infinity });
  await shard.take('t1');
  await shard.settle(
    { token: 't1', tenant: 'a', id: 'a1' },
    { kind: 'busy', value: 'no', holdMs: 3000, scope: 'bucket' },
  );
  shard.nowUs += SECOND;
  expect((await shard.survey(['a']))[0]).toMatchObject({ heldUs: 2 * SECOND, lateUs: 0 });
});

test('a start is late from when it was due, while nobody has a slot; one that waits for its rate is not', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'a1' }, { id: 'a2' }], { ratePerSecond: 1 });
  await shard.take('t1');
  shard.nowUs += SECOND / 2;
  expect((await shard.survey(['a']))[0]?.lateUs).toBe(0);
  // A dispatch that takes another's job brings the bucket to what is ready, as workers do.
  shard.nowUs += SECOND;
  await shard.admit('b', [{ id: 'b1' }], { ratePerSecond: Infinity });
  await shard.take('t2');
  const taken = await shard.waiting('a');
  expect(taken).toEqual(['a2']);
  shard.nowUs += SECOND;
  const [{ lateUs = 0 } = {}] = await shard.survey(['a']);
  expect(lateUs).toBeLessThanOrEqual(1.5 * SECOND);
  // What has been ready for no longer than this cannot be later than this.
  expect(lateUs).toBeGreaterThanOrEqual(SECOND);
});

describe('the job that waits longest', () => {
  const longest = async (shard: ScriptShard) => (await shard.survey(['a']))[0]?.longestMs;
  const unlimited = { ratePerSecond: Infinity };

  test('need not be the one that starts next', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'late', priority: 9 }], unlimited);
    shard.nowUs += SECOND;
    await shard.admit('a', [{ id: 'urgent', priority: 0 }, { id: 'usual' }], '');
    expect(await shard.waiting('a')).toEqual(['urgent', 'usual', 'late']);
    shard.nowUs += SECOND;
    expect(await longest(shard)).toBe(2000);
  });

  test('waits from when its delay was over', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'a1', delayMs: 5000 }], unlimited);
    await shard.admit('a', [{ id: 'a2', delayMs: 60_000 }], '');
    shard.nowUs += 4 * SECOND;
    expect(await longest(shard)).toBeNull();
    shard.nowUs += 2 * SECOND;
    await shard.admit('a', [{ id: 'a3' }], '');
    expect(await longest(shard)).toBe(1000);
  });

  test('that runs again waits from its last start', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'a1' }], unlimited);
    shard.nowUs += 10 * SECOND;
    await shard.take('t1');
    shard.nowUs += SECOND;
    await shard.settle({ token: 't1', tenant: 'a', id: 'a1' }, { kind: 'return', value: '' });
    expect(await longest(shard)).toBe(1000);
  });

  test('may have paid at the door, and have options that nobody can read', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'a1' }], { ratePerSecond: 1, mode: 'police' });
    await shard.redis.hset(shard.queueKey('a', 'a1'), 'opts', '{"delay":');
    shard.nowUs += SECOND;
    expect(await longest(shard)).toBe(1000);
  });
});

import { expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';

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
  expect(found.map(({ headId }) => headId)).toEqual(['', '', 'a2']);
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

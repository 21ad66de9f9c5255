import { expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';

const redis = redisForTests();
const FREE = { ratePerSecond: Infinity };

test('a type that nobody has used is empty, and stays unknown', async () => {
  const shard = redis.shard();
  const empty = { dueBuckets: 0, readyBuckets: 0, running: 0, servedPerSecond: 0, meanRunUs: 0, scarceUs: null };
  expect(await shard.stats()).toEqual(empty);
  expect(await shard.keys()).toEqual([]);
});

test('a type is told as a whole: what waits, is ready and runs, how fast it is served, and for how long workers have lacked', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'a1', cost: 6 }, { id: 'a2' }], FREE);
  await shard.admit('b', [{ id: 'b1' }, { id: 'b2' }], { ratePerSecond: 1 });
  await shard.admit('c', [{ id: 'c1', delayMs: 60_000 }], FREE);
  await shard.take('t1');
  await shard.take('t2');
  shard.nowUs += 300_000;
  expect(await shard.stats()).toEqual({
    dueBuckets: 2,
    readyBuckets: 1,
    running: 2,
    servedPerSecond: expect.closeTo((7 / 60) * Math.exp(-0.3 / 60), 9),
    meanRunUs: 0,
    scarceUs: 250_000,
  });
  await shard.settle({ token: 't1', tenant: 'a', id: 'a1' }, { kind: 'completed', value: '1' });
  expect(await shard.stats()).toMatchObject({ running: 1, meanRunUs: 300_000 });
});

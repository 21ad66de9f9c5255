import { expect, test } from 'vitest';
import { scripts } from '../../src/shaping/scripts.js';
import { redisForTests } from './redis-for-tests.js';

const redis = redisForTests();
const FREE = { ratePerSecond: Infinity };

test('nothing of the type starts before a hold has ended', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }], FREE);
  await shard.run(scripts.hold, [shard.nowUs, 500]);
  expect(await shard.take('t1')).toBe('nothing for 500000 µs');
  shard.nowUs += 500_000;
  expect(await shard.take('t2')).toBe('a j1');
});

test('a hold that would end earlier does not shorten one that is there', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }], FREE);
  await shard.run(scripts.hold, [shard.nowUs, 500]);
  await shard.run(scripts.hold, [shard.nowUs, 200]);
  expect(await shard.take('t1')).toBe('nothing for 500000 µs');
});

import { describe, expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';

const redis = redisForTests();

test('a bucket that nobody knows is empty, and stays unknown', async () => {
  const shard = redis.shard();
  expect(await shard.inspect('a')).toEqual({
    level: 0,
    waiting: 0,
    delayed: 0,
    running: 0,
    waitingCost: 0,
    waitingBytes: 0,
    nextStartUs: null,
  });
  expect(await shard.keys()).toEqual([]);
});

test('what is in the bucket leaks at its rate', async () => {
  const shard = redis.shard();
  const batch = [
    { id: 'j1', cost: 3 },
    { id: 'j2', cost: 0.5, data: '"x"' },
    { id: 'j3', delayMs: 50, data: '"yy"' },
  ];
  await shard.admit('a', batch, { ratePerSecond: 2 });
  await shard.take('t1');
  shard.nowUs += 250_000;
  expect(await shard.inspect('a')).toEqual({
    level: 2.5,
    waiting: 1,
    delayed: 1,
    running: 1,
    waitingCost: 0.5,
    waitingBytes: 7,
    nextStartUs: 1_250_000,
  });
  shard.nowUs += 10_000_000;
  expect((await shard.inspect('a')).level).toBe(0);
});

describe('the next start', () => {
  test.each([
    { title: 'is now when the bucket may start something', profile: { ratePerSecond: 2 }, spec: {}, next: 0 },
    { title: 'is never while it is paused', profile: { ratePerSecond: 0 }, spec: {}, next: null },
    {
      title: 'is when the first delayed job falls due',
      profile: { ratePerSecond: 2 },
      spec: { delayMs: 9 },
      next: 9000,
    },
  ])('$title', async ({ profile, spec, next }) => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1', ...spec }], profile);
    expect((await shard.inspect('a')).nextStartUs).toBe(next);
  });
});

test('looking changes nothing', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }]);
  const before = [
    await shard.redis.getBuffer(shard.bucketKey('a')),
    await shard.redis.hgetallBuffer(shard.key('type')),
  ];
  shard.nowUs += 5_000_000;
  await shard.inspect('a');
  await shard.read('a', 'j2');
  expect([
    await shard.redis.getBuffer(shard.bucketKey('a')),
    await shard.redis.hgetallBuffer(shard.key('type')),
  ]).toEqual(before);
});

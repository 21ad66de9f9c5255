import { describe, expect, test } from 'vitest';
import type { Profile } from '../../src/model/profile.js';
import { redisForTests } from './redis-for-tests.js';
import { wakeUps } from './wake-ups.js';

const redis = redisForTests();

describe('what waits goes by the new profile at once', () => {
  test.each<{ title: string; from: Partial<Profile>; to: Partial<Profile>; cost: number; waitUs: number }>([
    { title: 'ten times the rate', from: { ratePerSecond: 1 }, to: { ratePerSecond: 10 }, cost: 4, waitUs: 300_000 },
    {
      title: 'a tenth of the rate',
      from: { ratePerSecond: 1 },
      to: { ratePerSecond: 0.1 },
      cost: 4,
      waitUs: 30_000_000,
    },
    {
      title: 'a burst moves the gate alone',
      from: { ratePerSecond: 1 },
      to: { ratePerSecond: 1, burst: 3 },
      cost: 4,
      waitUs: 1_000_000,
    },
    { title: 'unlimited', from: { ratePerSecond: 1 }, to: { ratePerSecond: Infinity }, cost: 4, waitUs: 0 },
    {
      title: 'twice the jobRate',
      from: { ratePerSecond: Infinity, jobRatePerSecond: 0.5 },
      to: { ratePerSecond: Infinity, jobRatePerSecond: 1 },
      cost: 4,
      waitUs: 500_000,
    },
    {
      title: 'a weight changes no start',
      from: { ratePerSecond: 1 },
      to: { ratePerSecond: 1, weight: 9 },
      cost: 4,
      waitUs: 3_000_000,
    },
  ])('$title', async ({ from, to, cost, waitUs }) => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1', cost }, { id: 'j2' }], from);
    await shard.take('t1');
    shard.nowUs += 1_000_000;
    expect(await shard.retime('a', to)).toBe(true);
    expect((await shard.read('a', 'j2'))?.waitUs).toBe(waitUs);
    expect(await shard.take('t2')).toBe(waitUs === 0 ? 'a j2' : `nothing for ${waitUs} µs`);
  });
});

test('the same profile again changes nothing, and says so', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }], { ratePerSecond: 3 });
  const before = await shard.redis.getBuffer(shard.bucketKey('a'));
  expect(await shard.retime('a', { ratePerSecond: 3 })).toBe(false);
  expect(await shard.redis.getBuffer(shard.bucketKey('a'))).toEqual(before);
});

test('back and forth leaves the level where it was', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1', cost: 5 }, { id: 'j2' }], { ratePerSecond: 1 });
  await shard.take('t1');
  for (const ratePerSecond of [7, 0.3, 1e5, 1e-4, Infinity, 1]) await shard.retime('a', { ratePerSecond });
  // An unlimited rate empties the bucket: nothing can be owed to it.
  expect((await shard.inspect('a')).level).toBe(0);
  await shard.retime('a', { ratePerSecond: 2 });
  for (const ratePerSecond of [7, 0.3, 1e5, 1e-4, 0, 2]) await shard.retime('a', { ratePerSecond });
  expect(await shard.take('t2')).toBe('a j2');
  expect((await shard.inspect('a')).level).toBeCloseTo(1, 6);
});

test('a higher concurrency brings a blocked bucket back, and wakes a worker', async () => {
  const shard = redis.shard();
  const profile = { ratePerSecond: Infinity, concurrency: 1 };
  await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], profile);
  await shard.take('t1');
  expect(await shard.take('t2')).toBe('nothing for ever µs');
  const ears = await wakeUps(shard);
  await shard.retime('a', { ...profile, concurrency: 2 });
  expect(await ears.heard()).toEqual(['wake']);
  expect(await shard.take('t2')).toBe('a j2');
  ears.close();
});

test('a tenant of whom nothing is known is forgotten again', async () => {
  const shard = redis.shard();
  await shard.retime('a', { ratePerSecond: 3 });
  shard.nowUs += 61_000_000;
  await shard.sweep();
  expect(await shard.keys()).toEqual(['type']);
});

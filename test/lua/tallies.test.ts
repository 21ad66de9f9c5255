import { expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';

const redis = redisForTests();
const SLOT = 5_000_000;

test('counts of one moment add up, whoever counts, and those of another moment stand apart', async () => {
  const shard = redis.shard();
  shard.nowUs = SLOT * 1000 + 1;
  await shard.tally({ a: 2, 'r:x': 1 });
  shard.nowUs += SLOT - 2;
  await shard.tally({ a: 0.5, r: 1 });
  shard.nowUs += 1;
  await shard.tally({ a: 7 });
  const { slots, slotMs } = await shard.tallies(3);
  expect(slotMs).toBe(5000);
  expect(slots.map((slot) => Object.fromEntries(slot))).toEqual([{ a: 7 }, { a: 2.5, 'r:x': 1, r: 1 }, {}]);
});

test('a moment begins on the clock of Redis', async () => {
  const shard = redis.shard();
  shard.nowUs = SLOT * 1000 + 17;
  const { beganAtMs } = await shard.tallies(1);
  expect(beganAtMs).toBe(Date.UTC(2025, 0, 1) + (SLOT * 1000) / 1000);
});

test('counts expire', async () => {
  const shard = redis.shard();
  await shard.tally({ a: 1 });
  const [key = ''] = (await shard.keys()).filter((name) => name.startsWith('door:'));
  expect(await shard.redis.pttl(shard.key(key))).toBeGreaterThan(100_000);
  expect(await shard.redis.pttl(shard.key(key))).toBeLessThanOrEqual(120_000);
});

test('beyond so many counts of a moment, new ones are left out and known ones go on', async () => {
  const shard = redis.shard();
  expect(await shard.tally({ a: 1, b: 1, c: 1 }, 2)).toBe(1);
  expect(await shard.tally({ a: 1, c: 1 }, 2)).toBe(1);
  const [slot] = (await shard.tallies(1)).slots;
  expect(Object.fromEntries(slot ?? [])).toEqual({ a: 2, b: 1 });
});

test.each(['nan', 'inf', '-1', 'x', ''])('an amount of "%s" is left out', async (amount) => {
  const shard = redis.shard();
  expect(await shard.tally({ a: amount, b: 1 })).toBe(1);
  const [slot] = (await shard.tallies(1)).slots;
  expect(Object.fromEntries(slot ?? [])).toEqual({ b: 1 });
});

test('reading changes nothing', async () => {
  const shard = redis.shard();
  await shard.tallies(12);
  expect(await shard.keys()).toEqual([]);
});

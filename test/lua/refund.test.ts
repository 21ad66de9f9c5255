import { describe, expect, test } from 'vitest';
import { bucket, counter, LimitDesk, log } from './limit-desk.js';
import { redisForTests } from './redis-for-tests.js';

const server = redisForTests();
const desk = (): LimitDesk => new LimitDesk(server.redis);

const SECOND = 1_000_000;
const TEN = [
  { name: 'a token bucket', limit: bucket(1, 10) },
  { name: 'a log', limit: log(10, 10_000) },
  { name: 'a counter', limit: counter(10, 10_000) },
];

describe.each(TEN)('of $name', ({ limit }) => {
  test('what a call took is there again', async () => {
    const d = desk();
    await d.say(limit, { cost: 2 });
    const taken = await d.ask({ limits: { a: limit }, cost: 3.5 });
    await d.say(limit, { cost: 4 });
    await d.refund(taken);
    expect(await d.say(limit, { peek: true })).toEqual(['conforming', 4, 0]);
    expect(await d.passing(limit, 5)).toBe(4);
  });

  test('nothing stays behind of the only call', async () => {
    const d = desk();
    const taken = await d.ask({ limits: { a: limit }, cost: 1.25 });
    await d.refund(taken);
    expect(await d.redis.exists(d.key('a'))).toBe(0);
    await d.refund(taken);
    expect(await d.redis.exists(d.key('a'))).toBe(0);
  });

  test('what has left by itself is not given back a second time', async () => {
    const d = desk();
    const taken = await d.ask({ limits: { a: limit }, cost: 10 });
    d.nowUs += 25 * SECOND;
    expect(await d.passing(limit, 12)).toBe(10);
    await d.refund(taken);
    expect(await d.passing(limit, 12)).toBe(0);
  });

  test('a key that was emptied expires like any other', async () => {
    const d = desk();
    const taken = await d.ask({ limits: { a: limit }, cost: 2 });
    await d.say(limit, { cost: 1 });
    await d.refund(taken);
    expect(await d.redis.pttl(d.key('a'))).toBeGreaterThan(0);
  });
});

test('of several limits, each gives back its own', async () => {
  const d = desk();
  const limits = { a: bucket(1, 10), b: log(20, 10_000), c: counter(30, 10_000) };
  const taken = await d.ask({ limits, cost: 3 });
  await d.ask({ limits, cost: 2 });
  await d.refund(taken);
  const { readings } = await d.ask({ limits, peek: true });
  expect(readings.map(({ remaining }) => remaining)).toEqual([8, 18, 28]);
});

describe('a bucket', () => {
  test('gives back only what has not leaked since the call', async () => {
    const d = desk();
    const taken = await d.ask({ limits: { a: bucket(1, 10) }, cost: 6 });
    d.nowUs += 4 * SECOND;
    await d.say(bucket(1, 10), { cost: 8 });
    // 2 of the 6 are still in it: without the call the bucket had been whole 4 s ago.
    await d.refund(taken);
    expect(await d.say(bucket(1, 10), { peek: true })).toEqual(['conforming', 2, 0]);
  });
});

describe('a log', () => {
  test('forgets that entry alone, and lets go of the others in their time', async () => {
    const d = desk();
    const limit = log(10, 10_000);
    await d.say(limit, { cost: 2 });
    d.nowUs += SECOND;
    const taken = await d.ask({ limits: { a: limit }, cost: 3 });
    d.nowUs += SECOND;
    await d.say(limit, { cost: 1 });
    d.nowUs += SECOND;
    await d.say(limit, { cost: 4 });
    await d.refund(taken);
    expect(await d.redis.zrange(d.key('a'), 0, -1)).toEqual(['2:2', '3', '7:4']);
    const waits = [4, 5, 6, 10].map(async (cost) => (await d.say(limit, { cost, peek: true }))[2] / SECOND);
    expect(await Promise.all(waits)).toEqual([7, 7, 9, 10]);
  });

  test('takes out one of several calls of the same instant', async () => {
    const d = desk();
    const limit = log(10, 10_000);
    const [first] = await d.decide([1, 2, 0.5].map((cost) => ({ limits: { a: limit }, cost })));
    if (first === undefined || first instanceof Error) throw first;
    await d.refund(first);
    expect(await d.redis.zrange(d.key('a'), 0, -1)).toEqual(['2.500000:2.500000']);
  });
});

describe('a counter', () => {
  test('gives back to the window in which it was taken', async () => {
    const d = desk();
    const limit = counter(10, 10_000);
    const taken = await d.ask({ limits: { a: limit }, cost: 4 });
    await d.say(limit, { cost: 4 });
    d.nowUs += 15 * SECOND;
    await d.say(limit, { cost: 1 });
    expect(await d.say(limit, { peek: true })).toEqual(['conforming', 5, 0]);
    await d.refund(taken);
    expect(await d.say(limit, { peek: true })).toEqual(['conforming', 7, 0]);
  });
});

import type { Redis } from 'ioredis';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Limit } from '../../src/model/limit.js';
import { BEGIN_US, bucket, counter, LimitDesk, log } from './limit-desk.js';
import { redisForTests } from './redis-for-tests.js';

const server = redisForTests();
beforeEach(() => server.redis.flushall());

async function usedMemory(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
}

/** Bytes that Redis uses for each of 10,000 callers more: all of it, with both tables of its keys and their ends. */
async function bytesPerCaller(limit: Limit): Promise<number> {
  const desk = new LimitDesk(server.redis);
  await desk.say(limit);
  const before = await usedMemory(server.redis);
  const callers = 10_000;
  for (let i = 0; i < callers; i += 100) {
    await desk.decide(Array.from({ length: 100 }, (_, n) => ({ limits: { [`caller ${i + n}`]: limit } })));
  }
  return ((await usedMemory(server.redis)) - before) / callers;
}

describe('a key takes', () => {
  test('of a token bucket at most 100 bytes', async () => {
    const desk = new LimitDesk(server.redis);
    await desk.passing(bucket(7, 100), 3);
    expect(await server.redis.memory('USAGE', desk.key('a'))).toBeLessThanOrEqual(100);
    // 150 with Redis 7.0: the entries and slots of both of its tables beside the key and its value.
    expect(await bytesPerCaller(bucket(0.001, 100))).toBeLessThan(200);
  });

  test('of a counter at most 120 bytes, whatever its limit', async () => {
    const desk = new LimitDesk(server.redis);
    await desk.passing(counter(1e9, 60_000), 3, { cost: 123.456789 });
    expect(await server.redis.memory('USAGE', desk.key('a'))).toBeLessThanOrEqual(120);
  });

  test('of a log with 60 calls at most 1,200 bytes, in one piece', async () => {
    const desk = new LimitDesk(server.redis);
    desk.nowUs = BEGIN_US + 123;
    for (let i = 0; i < 70; i += 1) {
      desk.nowUs += 654_321;
      await desk.say(log(60, 60_000));
    }
    expect(await server.redis.zcard(desk.key('a'))).toBe(60);
    expect(await server.redis.memory('USAGE', desk.key('a'))).toBeLessThanOrEqual(1200);
    expect(await server.redis.object('ENCODING', desk.key('a'))).toBe('listpack');
  });

  test('of a log, for calls of one instant, no more than for one', async () => {
    const desk = new LimitDesk(server.redis);
    await desk.passing(log(1000, 60_000), 500);
    expect(await server.redis.zcard(desk.key('a'))).toBe(1);
  });
});

test('what the script remembers of the limits that it was told is bounded', async () => {
  const remembered = async () => Number(/used_memory_vm_functions:(\d+)/.exec(await server.redis.info('memory'))?.[1]);
  const desk = new LimitDesk(server.redis);
  await desk.say(bucket(1, 1), { peek: true });
  const before = await remembered();
  for (let i = 1; i <= 20_000; i += 100) {
    const calls = Array.from({ length: 100 }, (_, n) => ({ limits: { a: bucket(1, i + n) }, peek: true }));
    await desk.decide(calls);
  }
  // A thousand of them take half a megabyte.
  expect((await remembered()) - before).toBeLessThan(3e6);
});

test('every key that calls of every kind leave behind has an end', async () => {
  const desk = new LimitDesk(server.redis);
  const limits = { a: bucket(0.01, 5), b: log(7, 60_000), c: counter(9, 60_000) };
  for (let i = 0; i < 40; i += 1) {
    desk.nowUs += (i % 7 === 0 ? -3 : 1) * 1_000_000 * i;
    const [taken] = await desk.decide([{ limits, cost: 0.5 + (i % 3) }, { limits: { d: log(3, 1000) } }]);
    if (taken && !(taken instanceof Error) && taken.conforming && i % 4 === 0) await desk.refund(taken);
  }
  const keys = await server.redis.keys('*');
  expect(keys.length).toBeGreaterThan(2);
  for (const key of keys) expect(await server.redis.pttl(key)).toBeGreaterThan(0);
});

import { describe, expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';
import { wakeUps } from './wake-ups.js';

const redis = redisForTests();
const UNLIMITED = { ratePerSecond: Infinity };

test('says once and for all which form the data has', async () => {
  const shard = redis.shard();
  expect(await shard.configure({ concurrency: 3 }, 1)).toEqual({ kind: 'ok' });
  expect(await shard.configure({ concurrency: 3 }, 1)).toEqual({ kind: 'ok' });
  expect(await shard.configure({ concurrency: 9 }, 2)).toEqual({ kind: 'format', stored: '1' });
  expect(await shard.typeField('conc')).toBe(3);
});

describe('says once and for all over how many shards the type is spread', () => {
  test('and changes nothing for whoever says another number', async () => {
    const shard = redis.shard();
    expect(await shard.configure({ concurrency: 3 }, 1, 4)).toEqual({ kind: 'ok' });
    expect(await shard.configure({ concurrency: 9 }, 1, 2)).toEqual({ kind: 'shards', stored: '4' });
    expect(await shard.typeField('conc')).toBe(3);
  });

  test('data from before there were shards stands in one', async () => {
    const shard = redis.shard();
    await shard.configure({}, 1);
    await redis.redis.hdel(shard.key('type'), 'shards');
    expect(await shard.configure({}, 1, 3)).toEqual({ kind: 'shards', stored: '1' });
    expect(await shard.configure({}, 1, 1)).toEqual({ kind: 'ok' });
  });
});

describe("a change of the type's rate", () => {
  test('keeps its level: neither a burst nor a stall follows', async () => {
    const shard = redis.shard();
    await shard.configure({ emissionUs: 1_000_000 });
    await shard.admit('a', [{ id: 'j1', cost: 3 }, { id: 'j2' }], UNLIMITED);
    await shard.take('t1');
    shard.nowUs += 1_000_000;
    await shard.configure({ emissionUs: 100_000 });
    expect(await shard.take('t2')).toBe('nothing for 200000 µs');
  });

  test('from unlimited counts from now on', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }, { id: 'j3' }], UNLIMITED);
    await shard.take('t1');
    await shard.configure({ emissionUs: 50_000 });
    expect(await shard.take('t2')).toBe('a j2');
    expect(await shard.take('t3')).toBe('nothing for 50000 µs');
  });

  test('to 0 pauses the type, and leaves no instant that cannot be brought back', async () => {
    const shard = redis.shard();
    await shard.configure({ emissionUs: 1000 });
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], UNLIMITED);
    await shard.take('t1');
    await shard.configure({ emissionUs: Infinity });
    shard.nowUs += 1_000_000;
    expect(await shard.take('t2')).toBe('nothing for ever µs');
    await shard.configure({ emissionUs: 500_000 });
    expect(await shard.take('t2')).toBe('a j2');
    expect(await shard.typeField('tat')).toBeGreaterThan(shard.nowUs);
  });
});

describe('it wakes those who wait by the old capacity', () => {
  test('when something is ready', async () => {
    const shard = redis.shard();
    await shard.configure({ concurrency: 1 });
    for (const id of ['a', 'b']) await shard.admit(id, [{ id: `${id}1` }], UNLIMITED);
    await shard.take('t1');
    const ears = await wakeUps(shard);
    await shard.configure({ concurrency: 2 });
    expect(await ears.heard()).toEqual(['wake']);
    expect(await shard.take('t2')).toBe('b b1');
    ears.close();
  });

  test('when only something due is left', async () => {
    const shard = redis.shard();
    await shard.configure({ concurrency: 1 });
    for (const id of ['a', 'b']) await shard.admit(id, [{ id: `${id}1` }], UNLIMITED);
    await shard.take('t1');
    await shard.take('sleeper');
    await shard.cancel('b', 'b1');
    const ears = await wakeUps(shard);
    await shard.configure({ concurrency: 5 });
    expect(await ears.heard()).toEqual(['wake']);
    ears.close();
  });

  test('when it was a pause, and only something due is left', async () => {
    const shard = redis.shard();
    await shard.configure({ emissionUs: Infinity });
    await shard.admit('a', [{ id: 'd1', delayMs: 50 }], UNLIMITED);
    await shard.admit('b', [{ id: 'b1' }], UNLIMITED);
    expect(await shard.take('sleeper')).toBe('nothing for ever µs');
    await shard.cancel('b', 'b1');
    const ears = await wakeUps(shard);
    await shard.configure({});
    expect(await ears.heard()).toEqual(['wake']);
    expect(await shard.take('sleeper')).toBe('nothing for 50000 µs');
    ears.close();
  });
});

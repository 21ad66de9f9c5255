import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MemoryMarks, MemoryWatch, memoryStateOf } from '../../src/redis/memory-watch.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

const MARKS: MemoryMarks = { highWater: 0.9, highWaterBytes: Infinity, allowEviction: false };
const info = (used: number, max: number, policy = 'noeviction') =>
  `# Memory\r\nused_memory:${used}\r\nused_memory_human:1K\r\nmaxmemory:${max}\r\nmaxmemory_policy:${policy}\r\n`;

describe('the state of a memory', () => {
  test.each<[string, string, Partial<MemoryMarks>, object]>([
    ['below the mark', info(900, 1000), {}, { kind: 'fine' }],
    ['above the mark', info(901, 1000), {}, { kind: 'high', usedBytes: 901, markBytes: 900 }],
    ['without a limit', info(1e12, 0), {}, { kind: 'fine' }],
    ['above a mark in bytes', info(501, 0), { highWaterBytes: 500 }, { kind: 'high', usedBytes: 501, markBytes: 500 }],
    [
      'above the lower of two',
      info(601, 1000),
      { highWaterBytes: 600 },
      { kind: 'high', usedBytes: 601, markBytes: 600 },
    ],
    ['that evicts', info(1, 0, 'allkeys-lru'), {}, { kind: 'evicts', policy: 'allkeys-lru' }],
    ['that evicts only what expires', info(1, 0, 'volatile-ttl'), {}, { kind: 'evicts', policy: 'volatile-ttl' }],
    ['that may evict', info(1, 1000, 'allkeys-lru'), { allowEviction: true }, { kind: 'fine' }],
    [
      'that may evict, and is high',
      info(950, 1000, 'volatile-lru'),
      { allowEviction: true },
      { kind: 'high', usedBytes: 950, markBytes: 900 },
    ],
    ['of which nothing is said', '', {}, { kind: 'fine' }],
  ])('%s', (_, text, marks, state) => expect(memoryStateOf(text, { ...MARKS, ...marks })).toEqual(state));
});

describe('a watch over a real Redis', () => {
  let server: TestRedis;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  test('sees it fill and empty, and tells of changes alone', async () => {
    const redis = server.client();
    await redis.ping();
    const told: string[] = [];
    const watch = new MemoryWatch(redis, MARKS, ({ kind }) => told.push(kind));
    for (const maxmemory of ['0', '1000', '1000', '1gb']) {
      await redis.config('SET', 'maxmemory', maxmemory);
      await watch.look();
    }
    expect(told).toEqual(['high', 'fine']);
    await redis.config('SET', 'maxmemory-policy', 'allkeys-random');
    expect(await watch.look()).toEqual({ kind: 'evicts', policy: 'allkeys-random' });
  });

  test('keeps what it saw last while nobody answers', async () => {
    const redis = server.client({ commandTimeout: 1000, retryStrategy: () => null });
    redis.on('error', () => undefined);
    await redis.config('SET', 'maxmemory-policy', 'noeviction', 'maxmemory', '1000');
    const watch = new MemoryWatch(redis, MARKS);
    await watch.look();
    process.kill(server.pid, 'SIGSTOP');
    expect(await watch.look()).toMatchObject({ kind: 'high' });
    process.kill(server.pid, 'SIGCONT');
    redis.disconnect();
    expect(await watch.look()).toMatchObject({ kind: 'high' });
  });
});

import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_CAPACITY } from '../../src/model/profile.js';
import type { RedisLink } from '../../src/redis/connection.js';
import { Shards } from '../../src/redis/shards.js';
import { WorkSource } from '../../src/shaping/work-source.js';
import { ShapedType } from '../shaping/shaped-type.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { serve } from './serving.js';

const SETTINGS = { capacity: DEFAULT_CAPACITY, keepResults: { ageMs: 3_600_000, count: 10 }, attempts: 3 };
const JOBS = 40;

let server: TestRedis;
let redis: Redis;
let close: () => Promise<void>;
const releases: (() => void)[] = [];

beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterEach(async () => {
  for (const release of releases.splice(0)) release();
  await close();
});
afterAll(() => server?.stop());

/** How many dispatches were under way, and how many jobs, whenever a dispatch began; every job runs until it is released. */
async function begun(shards: number, slots: number) {
  const type = new ShapedType(redis, {}, shards);
  await type.source.configure();
  for (let i = 0; i < JOBS; i += 1) await type.fill(`t${i}`, 1);
  const seen: { asked: number; taken: number }[] = [];
  let [asked, taken] = [0, 0];
  class Counting extends WorkSource {
    override async dispatch(...args: Parameters<WorkSource['dispatch']>) {
      asked += 1;
      seen.push({ asked, taken });
      const found = await super.dispatch(...args);
      asked -= 1;
      if (found.kind === 'job') taken += 1;
      return found;
    }
  }
  const all = new Shards(shards).tags(type.name).map((_, index) => {
    return (link: RedisLink) =>
      new Counting(link, type.name, SETTINGS, { worker: 'w', lockMs: 30_000, shard: { index, count: shards } });
  });
  const serving = await serve({
    socketPath: server.socketPath,
    source: (link) => all.map((make) => make(link)),
    run: () => new Promise<void>((resolve) => releases.push(resolve)),
    slots,
  });
  close = () => serving.close();
  await expect.poll(() => serving.pool.running).toBe(Math.min(slots, JOBS));
  return seen;
}

describe('fetches of free slots', () => {
  test.each([6, JOBS])(
    'over several shards begin with one, become more with each job, and are never more than slots are free (%i slots)',
    async (slots) => {
      const seen = await begun(3, slots);
      expect(seen[0]).toEqual({ asked: 1, taken: 0 });
      expect(Math.max(...seen.map(({ asked }) => asked))).toBeGreaterThan(2);
      for (const { asked, taken } of seen) {
        expect(asked).toBeLessThanOrEqual(taken + 1);
        expect(asked + taken).toBeLessThanOrEqual(slots);
      }
    },
  );

  test('over one shard are one at a time', async () => {
    const seen = await begun(1, JOBS);
    expect(Math.max(...seen.map(({ asked }) => asked))).toBe(1);
  });
});

import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_CAPACITY } from '../../src/model/profile.js';
import { ShapedType } from '../shaping/shaped-type.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { serve } from './serving.js';
import { slowAnswers } from './slow-answers.js';

const SETTINGS = { capacity: DEFAULT_CAPACITY, keepResults: { ageMs: 3_600_000, count: 10 }, attempts: 3 };
const LOCK_MS = 300;

let server: TestRedis;
let redis: Redis;
let type: ShapedType;
let ran: string[];
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
beforeEach(() => {
  type = new ShapedType(redis);
  ran = [];
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
afterAll(() => server?.stop());

/** A pool with one slot, to which the answer about its first job does not come yet. */
async function served() {
  const slow = slowAnswers(type.name, SETTINGS, LOCK_MS);
  const run = async ({ id }: { id: string }) => void ran.push(id);
  const serving = await serve({ socketPath: server.socketPath, run, slots: 1, ...slow });
  closing.push(() => serving.close());
  await slow.dispatched;
  return { ...serving, deliver: slow.deliver };
}

describe('a job whose answer was so long on its way that its lock may be over', () => {
  test('is not begun where another worker has it by now, and the slot goes on', async () => {
    const [first = ''] = await type.fill('a', 1);
    const { pool, ended, deliver } = await served();
    await expect.poll(async () => (await type.work.recover(10)).returnedIds).toEqual([first]);
    const other = await type.take();
    const [second = ''] = await type.fill('a', 1);
    deliver();
    await expect.poll(() => ended.length).toBe(1);
    expect([other.id, ran, pool.running]).toEqual([first, [second], 0]);
  });

  test('is begun where it is this worker’s still', async () => {
    const [id = ''] = await type.fill('a', 1);
    const { ended, deliver } = await served();
    await expect.poll(() => redis.exists(`${type.work.tag}:q:a:${id}:lock`)).toBe(0);
    deliver();
    await expect.poll(() => ended.length).toBe(1);
    expect([ran, ended[0]?.verdict]).toEqual([[id], 'settled']);
  });
});

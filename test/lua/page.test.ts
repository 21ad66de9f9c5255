import { describe, expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';

const redis = redisForTests();
const UNLIMITED = { ratePerSecond: Infinity };

/** Every page of a state, one after the other. */
async function pages(
  shard: ScriptShard,
  state: string,
  options: { limit: number; scan?: number },
): Promise<string[][]> {
  const all: string[][] = [];
  let after: [string, string] = ['', ''];
  for (let i = 0; i < 100; i += 1) {
    const { ids, more, afterScore, afterId } = await shard.page('a', state, { ...options, after });
    all.push(ids);
    if (!more) return all;
    after = [afterScore, afterId];
  }
  throw new Error(`no end after 100 pages: ${JSON.stringify(all.slice(0, 3))}`);
}

const ids = (n: number): string[] => Array.from({ length: n }, (_, i) => `j${String(i).padStart(3, '0')}`);

/** Five jobs in every state, all ended at one instant. */
async function populated(): Promise<ScriptShard> {
  const shard = redis.shard();
  const [completed, failed, cancelled, active] = [0, 5, 10, 15].map((from) => ids(20).slice(from, from + 5));
  await shard.admit(
    'a',
    ids(20).map((id) => ({ id })),
    UNLIMITED,
  );
  await shard.admit(
    'a',
    ids(25)
      .slice(20)
      .map((id) => ({ id, startByMs: shard.nowMs + 1 })),
    UNLIMITED,
  );
  for (const id of cancelled ?? []) await shard.cancel('a', id);
  shard.nowUs += 2000;
  for (const id of [...(completed ?? []), ...(failed ?? []), ...(active ?? [])]) await shard.take(`t-${id}`);
  for (const id of completed ?? [])
    await shard.settle({ token: `t-${id}`, tenant: 'a', id }, { kind: 'completed', value: '1' });
  for (const id of failed ?? [])
    await shard.settle({ token: `t-${id}`, tenant: 'a', id }, { kind: 'failed', value: 'x' });
  await shard.admit(
    'a',
    ids(30)
      .slice(25)
      .map((id) => ({ id })),
    UNLIMITED,
  );
  await shard.admit(
    'a',
    ids(35)
      .slice(30)
      .map((id, i) => ({ id, delayMs: 100 + i })),
    UNLIMITED,
  );
  return shard;
}

describe('every job of a state comes once, in order, whatever the size of a page', () => {
  test.each([
    { state: 'completed', from: 0 },
    { state: 'failed', from: 5 },
    { state: 'cancelled', from: 10 },
    { state: 'active', from: 15 },
    { state: 'expired', from: 20 },
    { state: 'waiting', from: 25 },
    { state: 'delayed', from: 30 },
  ])('$state', async ({ state, from }) => {
    const shard = await populated();
    const expected = ids(35).slice(from, from + 5);
    for (const limit of [1, 2, 4, 5, 100]) {
      const found = await pages(shard, state, { limit });
      expect(found.flat()).toEqual(expected);
      expect(found.every((page) => page.length <= limit)).toBe(true);
    }
  });
});

test('a look at no more entries than asked for goes on where it stopped', async () => {
  const shard = await populated();
  for (const state of ['failed', 'cancelled', 'expired', 'completed']) {
    expect((await pages(shard, state, { limit: 3, scan: 16 })).flat()).toHaveLength(5);
  }
});

test('a tenant without jobs has an empty page', async () => {
  const shard = redis.shard();
  for (const state of ['waiting', 'delayed', 'active', 'completed', 'failed', 'expired', 'cancelled']) {
    expect(await shard.page('a', state)).toMatchObject({ ids: [], more: false });
  }
});

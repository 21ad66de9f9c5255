import { describe, expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';

const redis = redisForTests();

/** Every number that the scripts keep outside BullMQ's own keys, as text. */
async function storedScores(shard: ScriptShard): Promise<string[]> {
  const sets = ['due', 'ready', 'expire', 'results'].map((set) =>
    shard.redis.zrange(shard.key(set), 0, -1, 'WITHSCORES'),
  );
  return (await Promise.all(sets)).flatMap((flat) => flat.filter((_, i) => i % 2 === 1));
}

async function storedNumbers(shard: ScriptShard, tenants: readonly string[]): Promise<number[]> {
  const ofType = ['last', 'tat', 'running', 'v', 'maxfin'].map((name) => shard.typeField(name));
  const ofBucket = ['tat', 'jtat', 'finish', 'T', 'jT', 'bytes', 'w5', 'active', 'waiting', 'odd'];
  const ofBuckets = tenants.flatMap((tenant) => ofBucket.map((name) => shard.bucketField(tenant, name)));
  return Promise.all([...ofType, ...ofBuckets]);
}

describe('no digit of an instant is lost', () => {
  // Today, in a decade and in fifty years, each with a last digit that 14 significant ones would drop.
  test.each([60_000_000_000_001, 315_360_000_000_003, 1_577_836_800_000_007])('at %i µs', async (nowUs) => {
    const shard = redis.shard();
    shard.nowUs = nowUs;
    const startByMs = Math.ceil(shard.nowMs) + 5_000_001;
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2', startByMs }, { id: 'j3', delayMs: 3 }], { ratePerSecond: 1 });
    await shard.take('t1');
    expect(await shard.typeField('last')).toBe(nowUs);
    expect(await shard.bucketField('a', 'tat')).toBe(nowUs + 1_000_000);
    expect(await shard.redis.zscore(shard.key('due'), 'a')).toBe(String(nowUs + 1_000_000));
    expect(await shard.redis.zscore(shard.key('expire'), 'a j2')).toMatch(/^\d+$/);
    expect((await shard.read('a', 'j1'))?.fields.get('processedOn')).toBe(String(Math.floor(shard.nowMs)));
    shard.nowUs += 999_999;
    expect(await shard.take('t2')).toBe('nothing for 1 µs');
    shard.nowUs += 1;
    expect(await shard.take('t2')).toBe('a j2');
  });
});

test('nothing is written so that digits are lost, as nan or as inf', async () => {
  const shard = redis.shard();
  await shard.configure({ emissionUs: 1e6 / 3, concurrency: 1e15 });
  const profiles = [{ ratePerSecond: 1e5 }, { ratePerSecond: 1e-4 }, { ratePerSecond: Infinity }, { ratePerSecond: 7 }];
  for (const [i, profile] of profiles.entries()) {
    const batch = [
      { id: 'j1', cost: 0.001 },
      { id: 'j2', cost: 10_000 },
      { id: 'j3', cost: 1 / 3 },
    ];
    await shard.admit(`t${i}`, batch, { ...profile, weight: 3, burst: 7, concurrency: Infinity });
  }
  for (let i = 0; i < 12; i += 1) {
    shard.nowUs += 1_000_000;
    const token = `t${i}`;
    const found = await shard.dispatch(token);
    if (found.kind === 'job') await shard.settle({ token, ...found }, { kind: 'completed', value: '1' });
  }
  const scores = await storedScores(shard);
  expect(scores.length).toBeGreaterThan(3);
  // Servers since Redis 7.2 say a small fraction with an exponent.
  expect(scores.filter((text) => !/^-?\d+(\.\d+)?(e-\d+)?$/.test(text))).toEqual([]);
  const numbers = await storedNumbers(shard, ['t0', 't1', 't2', 't3']);
  expect(numbers.filter((number) => !Number.isFinite(number) || number < 0)).toEqual([]);
});

test('a fraction of a microsecond adds up over thousands of starts', async () => {
  const shard = redis.shard();
  const begin = shard.nowUs;
  const n = 2000;
  await shard.admit(
    'a',
    Array.from({ length: n + 1 }, (_, i) => ({ id: `j${String(i).padStart(5, '0')}` })),
    {
      ratePerSecond: 3000,
      depth: 10_000,
    },
  );
  for (let i = 0; i < n; i += 1) {
    await shard.take(`t${i}`);
    shard.nowUs = Math.max(shard.nowUs, Math.ceil(await shard.bucketField('a', 'tat')));
  }
  expect(shard.nowUs - begin).toBeGreaterThanOrEqual(Math.floor((n * 1e6) / 3000));
  expect(shard.nowUs - begin).toBeLessThan((n * 1e6) / 3000 + 20);
});

test('costs from a thousandth to ten thousand are counted exactly while they wait', async () => {
  const shard = redis.shard();
  const costs = [0.001, 0.1, 0.3, 1 / 3, 1, 7.77, 10_000];
  await shard.admit(
    'a',
    costs.map((cost, i) => ({ id: `j${i}`, cost })),
    { ratePerSecond: Infinity },
  );
  const sum = costs.reduce((total, cost) => total + cost, 0);
  expect((await shard.inspect('a')).waitingCost).toBeCloseTo(sum, 9);
  for (const i of costs.keys()) await shard.take(`t${i}`);
  expect((await shard.inspect('a')).waitingCost).toBe(0);
});

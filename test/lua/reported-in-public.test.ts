import { describe, expect, test } from 'vitest';
import { Random } from '../../bench/fairness/random.js';
import { simulateService } from '../support/service/simulate-service.js';
import { redisForTests } from './redis-for-tests.js';

const redis = redisForTests();
const SECOND = 1_000_000;
const UNLIMITED = { ratePerSecond: Infinity };

test('ten jobs at two thirds of one a second all start, three every two seconds, and all finish', async () => {
  const jobs = await simulateService(redis.shard(), {
    profiles: { a: { ratePerSecond: 2 / 3 } },
    arrivals: [{ atUs: 0, tenant: 'a', jobs: Array(10).fill({}) }],
    slots: 3,
    serviceUs: () => 200_000,
  });
  for (const [k, { startedAtUs = Infinity, endedAtUs }] of jobs.entries()) {
    expect(Math.abs(startedAtUs - k * 1.5 * SECOND)).toBeLessThanOrEqual(k + 1);
    expect(endedAtUs).toBe(startedAtUs + 200_000);
  }
});

test("a backlog of ten thousand in one tenant leaves another's first job under a second, and the next ones too", {
  timeout: 300_000,
}, async () => {
  const random = new Random(5);
  const late = [1, 2, 3].map((s) => ({ atUs: s * SECOND, tenant: 'late', jobs: [{}] }));
  const heaps = Array.from({ length: 20 }, () => ({ atUs: 0, tenant: 'early', jobs: Array(500).fill({}) }));
  const jobs = await simulateService(redis.shard(), {
    profiles: { early: { ...UNLIMITED, depth: 1e5 }, late: UNLIMITED },
    arrivals: [...heaps, ...late],
    slots: 4,
    serviceUs: () => Math.ceil(random.lognormal(100_000, 1)),
    untilUs: 5 * SECOND,
  });
  const waits = jobs.flatMap(({ tenant, arrivedAtUs, startedAtUs = Infinity }) =>
    tenant === 'late' ? [startedAtUs - arrivedAtUs] : [],
  );
  expect(waits).toHaveLength(3);
  expect(Math.max(...waits)).toBeLessThan(SECOND);
});

test.each([2 ** 31 - 1, 2 ** 31, 2 ** 32 + 5, 315_576_000_000])(
  'a delay of %i ms is kept to the microsecond: no 32-bit number is on its way',
  async (delayMs) => {
    const shard = redis.shard();
    const { first } = await shard.admit('a', [{ id: 'j1', delayMs }], UNLIMITED);
    expect(first).toMatchObject({ kind: 'admitted', state: 'delayed', waitUs: delayMs * 1000 });
    shard.nowUs += delayMs * 1000 - 1;
    expect(await shard.take('t1')).toBe('nothing for 1 µs');
    shard.nowUs += 1;
    expect(await shard.take('t1')).toBe('a j1');
  },
);

describe('what is blocked', () => {
  test('holds no slot: of a bucket at its cap, at its rate, paused or held the next ready one is served', async () => {
    const shard = redis.shard();
    const two = (name: string) => [{ id: `${name}1` }, { id: `${name}2` }];
    await shard.admit('capped', two('c'), { ...UNLIMITED, concurrency: 1 });
    await shard.admit('paced', two('p'), { ratePerSecond: 1 });
    await shard.admit('stopped', two('s'), UNLIMITED);
    await shard.pause('stopped', true);
    await shard.admit(
      'open',
      [1, 2, 3].map((i) => ({ id: `o${i}` })),
      UNLIMITED,
    );
    const taken = await Promise.all([1, 2, 3, 4, 5, 6].map((i) => shard.take(`t${i}`)));
    expect(taken.slice(0, 5).toSorted()).toEqual(['capped c1', 'open o1', 'open o2', 'open o3', 'paced p1']);
    expect(taken[5]).toBe(`nothing for ${SECOND} µs`);
  });

  test('of one type, at its concurrency or its rate, delays no other type', async () => {
    const [full, slow, free] = [redis.shard(), redis.shard(), redis.shard()];
    await full.configure({ concurrency: 1 });
    await slow.configure({ emissionUs: 60 * SECOND });
    for (const shard of [full, slow, free]) await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], UNLIMITED);
    for (const shard of [full, slow]) await shard.take('t1');
    expect(await full.take('t2')).toBe('nothing for ever µs');
    expect(await slow.take('t2')).toBe(`nothing for ${60 * SECOND} µs`);
    expect([await free.take('t1'), await free.take('t2')]).toEqual(['a j1', 'a j2']);
  });
});

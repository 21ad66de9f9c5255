import { describe, expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';
import { SHAPES } from './served-shapes.js';
import { serve } from './served-shard.js';

const redis = redisForTests();

test('a bucket that nobody knows is empty, and stays unknown', async () => {
  const shard = redis.shard();
  expect(await shard.inspect('a')).toEqual({
    level: 0,
    waiting: 0,
    delayed: 0,
    running: 0,
    waitingCost: 0,
    waitingBytes: 0,
    nextStartUs: null,
    servedPerSecond: 0,
    deservedPerSecond: 0,
  });
  expect(await shard.keys()).toEqual([]);
});

test('what is in the bucket leaks at its rate', async () => {
  const shard = redis.shard();
  const batch = [
    { id: 'j1', cost: 3 },
    { id: 'j2', cost: 0.5, data: '"x"' },
    { id: 'j3', delayMs: 50, data: '"yy"' },
  ];
  await shard.admit('a', batch, { ratePerSecond: 2 });
  await shard.take('t1');
  shard.nowUs += 250_000;
  expect(await shard.inspect('a')).toMatchObject({
    level: 2.5,
    waiting: 1,
    delayed: 1,
    running: 1,
    waitingCost: 0.5,
    waitingBytes: 7,
    nextStartUs: 1_250_000,
  });
  shard.nowUs += 10_000_000;
  expect((await shard.inspect('a')).level).toBe(0);
});

describe('the next start', () => {
  test.each([
    { title: 'is now when the bucket may start something', profile: { ratePerSecond: 2 }, spec: {}, next: 0 },
    { title: 'is never while it is paused', profile: { ratePerSecond: 0 }, spec: {}, next: null },
    {
      title: 'is when the first delayed job falls due',
      profile: { ratePerSecond: 2 },
      spec: { delayMs: 9 },
      next: 9000,
    },
  ])('$title', async ({ profile, spec, next }) => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1', ...spec }], profile);
    expect((await shard.inspect('a')).nextStartUs).toBe(next);
  });
});

test('looking changes nothing', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }]);
  const before = [
    await shard.redis.getBuffer(shard.bucketKey('a')),
    await shard.redis.hgetallBuffer(shard.key('type')),
  ];
  shard.nowUs += 5_000_000;
  await shard.inspect('a');
  await shard.read('a', 'j2');
  expect([
    await shard.redis.getBuffer(shard.bucketKey('a')),
    await shard.redis.hgetallBuffer(shard.key('type')),
  ]).toEqual(before);
});

describe('the share of a bucket', () => {
  const FADE_S = 60;
  const SECOND = 1_000_000;

  test('is what it was served, fading, and what its weight made of what all were served', async () => {
    const shard = redis.shard();
    const profile = (weight: number) => ({ ratePerSecond: Infinity, weight });
    const jobs = (tenant: string) => Array.from({ length: 400 }, (_, i) => ({ id: `${tenant}${i}` }));
    await shard.admit('a', jobs('a'), profile(1));
    await shard.admit('b', jobs('b'), profile(3));
    const starts: { readonly tenant: string; readonly atUs: number }[] = [];
    for (let i = 0; i < 300; i += 1) {
      shard.nowUs += SECOND / 4;
      const [tenant = ''] = (await shard.take(`t${i}`)).split(' ');
      starts.push({ tenant, atUs: shard.nowUs });
    }
    const faded = (of: typeof starts) =>
      of.reduce((sum, { atUs }) => sum + Math.exp((atUs - shard.nowUs) / SECOND / FADE_S), 0) / FADE_S;
    const [a, b] = [await shard.inspect('a'), await shard.inspect('b')];
    for (const [tenant, { servedPerSecond, deservedPerSecond }] of [
      ['a', a],
      ['b', b],
    ] as const) {
      expect(servedPerSecond).toBeCloseTo(faded(starts.filter((start) => start.tenant === tenant)), 9);
      // By start-time fair queuing within one job.
      expect(Math.abs(servedPerSecond - deservedPerSecond)).toBeLessThan(2 / FADE_S);
    }
    expect(b.servedPerSecond / a.servedPerSecond).toBeGreaterThan(2.8);
    expect(b.servedPerSecond / a.servedPerSecond).toBeLessThan(3.2);
    expect((await shard.stats()).servedPerSecond).toBeCloseTo(faded(starts), 9);
  });

  test('tells when shares are not kept', async () => {
    // Weights that nobody looks at as tags are handed out, but that count for what is deserved.
    const unfair = redis.shard((_, text) =>
      text.replace('b.finish = start_tag + cost / b.weight', 'b.finish = start_tag + cost'),
    );
    for (const [tenant, weight] of [
      ['a', 1],
      ['b', 3],
    ] as const) {
      const jobs = Array.from({ length: 300 }, (_, i) => ({ id: `${tenant}${i}` }));
      await unfair.admit(tenant, jobs, { ratePerSecond: Infinity, weight });
    }
    for (let i = 0; i < 200; i += 1) {
      unfair.nowUs += SECOND / 4;
      await unfair.take(`t${i}`);
    }
    const { servedPerSecond, deservedPerSecond } = await unfair.inspect('b');
    expect(servedPerSecond).toBeLessThan(0.5 * deservedPerSecond);
  });

  test('of one that asks for little is little, and it is served all of that', async () => {
    const shard = redis.shard();
    await serve(shard, SHAPES['a light tenant among heavy ones'] ?? expect.fail());
    const light = await shard.inspect('a');
    const heavy = await shard.inspect('b');
    expect(light.deservedPerSecond).toBeLessThan(heavy.deservedPerSecond);
    expect(light.servedPerSecond).toBeGreaterThan(0.95 * light.deservedPerSecond);
  });

  test('of a correction and of a run that did not count is what was really served', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2', cost: 4 }], { ratePerSecond: Infinity });
    await shard.take('t1');
    await shard.charge('t1', 7);
    expect((await shard.inspect('a')).servedPerSecond).toBeCloseTo(7 / FADE_S, 9);
    await shard.take('t2');
    const busy = { kind: 'busy', value: 'no', holdMs: 0, scope: 'bucket' } as const;
    await shard.settle({ token: 't2', tenant: 'a', id: 'j2' }, busy);
    expect((await shard.inspect('a')).servedPerSecond).toBeCloseTo(7 / FADE_S, 9);
  });
});

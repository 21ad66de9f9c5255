import { describe, expect, test } from 'vitest';
import { type Fault, making } from './making.js';
import { redisForTests } from './redis-for-tests.js';
import { SHAPES } from './served-shapes.js';
import { type ServedJob, serve } from './served-shard.js';

const redis = redisForTests();

interface Judged {
  readonly realUs: number;
  readonly earliestUs: number;
  readonly latestUs: number;
}

/** Every promise that gave a range, and what became of it. */
function judged(jobs: readonly ServedJob[]): Judged[] {
  return jobs.flatMap(({ verdict: { between }, admittedAtUs, startedAtUs = Infinity }) =>
    between ? [{ ...between, realUs: startedAtUs - admittedAtUs }] : [],
  );
}

/** Which part of the ranges held. */
function kept(promises: readonly Judged[]): number {
  const held = promises.filter(({ realUs, earliestUs, latestUs }) => realUs >= earliestUs && realUs <= latestUs);
  return held.length / promises.length;
}

const all: Judged[] = [];

test.each(Object.entries(SHAPES))(
  'of the ranges that were promised, nine of ten hold: %s',
  async (_, workload) => {
    const jobs = await serve(redis.shard(), workload);
    const promises = judged(jobs);
    all.push(...promises);
    // All but the first, before anything was measured.
    expect(promises.length).toBeGreaterThan(0.95 * jobs.length);
    expect(kept(promises)).toBeGreaterThan(0.8);
    expect(kept(promises)).toBeLessThan(0.97);
    const widths = promises.map(({ earliestUs, latestUs }) => latestUs / Math.max(10_000, earliestUs));
    const usual = widths.sort((one, other) => one - other)[Math.floor(widths.length / 2)];
    expect(usual).toBeLessThan(12);
  },
  120_000,
);

test('over all of them it is 87 to 93 of 100', () => {
  expect(all.length).toBeGreaterThan(30_000);
  expect(kept(all)).toBeGreaterThan(0.87);
  expect(kept(all)).toBeLessThan(0.93);
});

describe('it is noticed', () => {
  const STEADY = SHAPES['steady, at three times what workers bear, by weight'];
  test.each<[title: string, fault: Fault]>([
    ['a wait that forgets the weight', [['cost / b.weight, b.where', 'cost, b.where']]],
    ['a pace that forgets who else is ready', [['advance * weights * s[w.span]', 'advance * s[w.span]']]],
  ])('%s', { timeout: 300_000 }, async (_, fault) => {
    if (STEADY === undefined) throw new Error('no such load');
    const promises = judged(await serve(redis.shard(making(fault)), STEADY));
    const part = promises.length === 0 ? 0 : kept(promises);
    const widths = promises.map(({ earliestUs, latestUs }) => latestUs / Math.max(10_000, earliestUs));
    const usual = widths.sort((one, other) => one - other)[Math.floor(widths.length / 2)] ?? Infinity;
    expect(part > 0.8 && part < 0.97 && usual < 12, `${part} of ranges ${usual} wide`).toBe(false);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { excessOverCaps } from './judges/caps.js';
import { excessOverFairness } from './judges/fairness.js';
import { type Arrival, simulate } from './simulation.js';
import { termsOf } from './terms-of.js';
import { cost, readyBuckets } from './workloads.js';

const RUNS = { seed: 30, numRuns: 400 };

const heap = (tenant: string, n: number, cost: number, atUs = 0): Arrival[] =>
  Array.from({ length: n }, () => ({ tenant, cost, atUs }));

describe('what two ready buckets are served, over their weights, differs by no more than one job of each', () => {
  test('for any weights, costs, slots, comings and goings', () => {
    const property = fc.property(readyBuckets(), ({ workload, weights }) => {
      const trace = simulate(workload);
      expect(trace.starts).toHaveLength(workload.arrivals.length);
      expect(excessOverFairness(trace.moments, weights)).toBeLessThanOrEqual(0);
    });
    fc.assert(property, RUNS);
  });
});

test('so it is by what jobs really cost, where that is known only once they run', () => {
  const property = fc.property(readyBuckets(), fc.array(cost, { minLength: 1, maxLength: 7 }), (drawn, thoughts) => {
    const arrivals = drawn.workload.arrivals.map((arrival, i) => ({
      ...arrival,
      thought: thoughts[i % thoughts.length] ?? 1,
    }));
    const trace = simulate({ ...drawn.workload, arrivals });
    expect(trace.starts).toHaveLength(arrivals.length);
    expect(excessOverFairness(trace.moments, drawn.weights)).toBeLessThanOrEqual(0);
  });
  fc.assert(property, RUNS);
});

describe('an idle tenant earns no credit', () => {
  test('one that comes late shares from then on, and does not catch up', () => {
    const arrivals = [...heap('early', 400, 1), ...heap('late', 400, 1, 1_000_000)];
    const { moments, starts } = simulate({
      terms: { early: termsOf({}), late: termsOf({}) },
      arrivals,
      slots: 1,
      latenessUs: [0],
      serviceUs: [10_000],
    });
    const after = starts.filter(({ startedAtUs = 0 }) => startedAtUs > 1_000_000).slice(0, 100);
    const late = after.filter(({ tenant }) => tenant === 'late').length;
    expect(Math.abs(late - 50)).toBeLessThanOrEqual(1);
    expect(excessOverFairness(moments, { early: 1, late: 1 })).toBeLessThanOrEqual(0);
  });

  test('one that pauses in between neither', () => {
    const arrivals = [...heap('steady', 900, 1), ...heap('comes', 20, 1), ...heap('comes', 200, 1, 3_000_000)];
    const { moments, starts } = simulate({
      terms: { steady: termsOf({}), comes: termsOf({}) },
      arrivals: arrivals.sort((one, other) => one.atUs - other.atUs),
      slots: 2,
      latenessUs: [0],
      serviceUs: [10_000],
    });
    const after = starts.filter(({ startedAtUs = 0 }) => startedAtUs > 3_000_000).slice(0, 60);
    expect(Math.abs(after.filter(({ tenant }) => tenant === 'comes').length - 30)).toBeLessThanOrEqual(2);
    expect(excessOverFairness(moments, { steady: 1, comes: 1 })).toBeLessThanOrEqual(0);
  });
});

describe('nobody starves', () => {
  test('a tenant of a hundredth of the weight gets its hundredth beside ten floods', () => {
    const floods = Array.from({ length: 10 }, (_, i) => `flood${i}`);
    const weights = { ...Object.fromEntries(floods.map((tenant) => [tenant, 1])), meek: 0.01 };
    const { starts } = simulate({
      terms: Object.fromEntries(Object.entries(weights).map(([tenant, weight]) => [tenant, termsOf({ weight })])),
      arrivals: [...floods.flatMap((tenant) => heap(tenant, 230, 1)), ...heap('meek', 3, 1)],
      slots: 4,
      latenessUs: [0],
      serviceUs: [1000],
    });
    const at = starts.flatMap(({ tenant }, i) => (tenant === 'meek' ? [i] : []));
    expect(at).toHaveLength(3);
    // A job of cost 1 is worth 100 of each flood: the second waits for about 10 · 100 others.
    expect(at[1]).toBeGreaterThan(900);
    expect(at[1]).toBeLessThan(1100);
  });

  test('a tenant of one small job is served next, however much the others have waiting', () => {
    const { starts } = simulate({
      terms: { flood: termsOf({}), small: termsOf({}) },
      arrivals: [...heap('flood', 500, 50), ...heap('small', 1, 1, 100_500)],
      slots: 1,
      latenessUs: [0],
      serviceUs: [1000],
    });
    const small = starts.find(({ tenant }) => tenant === 'small');
    expect(small?.startedAtUs).toBeLessThanOrEqual(100_500 + 2000);
  });
});

describe('caps', () => {
  test('what runs never exceeds the cap of a bucket or of the type', () => {
    const caps = fc.record({ bucket: fc.integer({ min: 1, max: 4 }), type: fc.integer({ min: 1, max: 5 }) });
    const property = fc.property(readyBuckets(), caps, ({ workload, weights }, { bucket, type }) => {
      const terms = Object.entries(weights).map(([tenant, weight]) => [
        tenant,
        termsOf({ weight, concurrency: bucket }),
      ]);
      const { moments, starts } = simulate({
        ...workload,
        terms: Object.fromEntries(terms),
        capacity: { emissionUs: 0, burst: 1, concurrency: type, slackUs: 25_000 },
        slots: 20,
      });
      const each = Object.fromEntries(Object.keys(weights).map((tenant) => [tenant, bucket]));
      expect(starts).toHaveLength(workload.arrivals.length);
      expect(excessOverCaps(moments, each, type)).toBeLessThanOrEqual(0);
    });
    fc.assert(property, RUNS);
  });
});

describe('the judge', () => {
  const moment = (tenant: string, cost: number, backlogged: string[]) => ({
    atUs: 0,
    start: {
      id: '',
      tenant,
      cost,
      priority: 4,
      admittedAtUs: 0,
      joinsAtUs: 0,
      verdict: { kind: 'replayed', id: '' } as const,
      ahead: new Set<string>(),
      startedAtUs: 0,
    },
    backlogged: new Set(backlogged),
    running: new Map<string, number>(),
  });
  const both = ['a', 'b'];
  const begin = { atUs: 0, backlogged: new Set(both), running: new Map<string, number>() };

  test('accepts one after the other', () => {
    const moments = [begin, ...['a', 'b', 'a', 'b'].map((tenant) => moment(tenant, 1, both))];
    expect(excessOverFairness(moments, { a: 1, b: 1 })).toBeLessThanOrEqual(0);
  });

  test('rejects three of one while the other is ready', () => {
    const moments = [begin, ...['a', 'a', 'a', 'b'].map((tenant) => moment(tenant, 1, both))];
    expect(excessOverFairness(moments, { a: 1, b: 1 })).toBeCloseTo(1, 5);
  });

  test('does not compare while one is not ready', () => {
    const moments = [begin, ...['a', 'a', 'a', 'b'].map((tenant) => moment(tenant, 1, ['a']))];
    expect(excessOverFairness(moments, { a: 1, b: 1 })).toBeLessThanOrEqual(0);
  });

  test('rejects turns that do not look at the cost', () => {
    const turns = ['a', 'b', 'a', 'b', 'a', 'b'].map((tenant) => moment(tenant, tenant === 'a' ? 10 : 1, both));
    expect(excessOverFairness([begin, ...turns], { a: 1, b: 1 })).toBeGreaterThan(0);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keptPromises } from './judges/promises.js';
import { simulate } from './simulation.js';
import { type Stated, termsOf } from './terms-of.js';
import { type OneBucketOptions, oneBucket } from './workloads.js';

const AT_ONCE = { slots: 1000, latenessUs: [0], serviceUs: [0] };

/** When jobs of these costs start, in milliseconds, all admitted at once to an idle bucket. */
function startsMs(stated: Stated, costs: readonly number[]): number[] {
  const arrivals = costs.map((cost) => ({ atUs: 0, tenant: 'a', cost }));
  const { starts } = simulate({ terms: { a: termsOf(stated) }, arrivals, ...AT_ONCE });
  return starts.map(({ startedAtUs = 0 }) => startedAtUs / 1000);
}

// A worker learns of an instant in whole microseconds, rounded up: without any slack that would be lateness.
const PUNCTUAL = { changes: 0, lateness: 0, leastSlackUs: 10 };

describe('the door says when a job starts', () => {
  test.each<{ title: string; options: OneBucketOptions }>([
    { title: 'by its rate, for any costs', options: { ...PUNCTUAL, limits: 'one' } },
    {
      title: 'by the slower of two limits, for costs that are equal',
      options: { ...PUNCTUAL, limits: 'two', costs: 'equal' },
    },
  ])('to the microsecond, $title, any burst and any priority', ({ options }) => {
    let exact = 0;
    let all = 0;
    const property = fc.property(oneBucket(options), ({ workload }) => {
      const trace = simulate({ ...workload, ...AT_ONCE });
      const kept = keptPromises(trace);
      expect(kept.broken).toBeUndefined();
      exact += kept.exact;
      all += trace.jobs.length;
    });
    fc.assert(property, { seed: 50, numRuns: 500 });
    // Most are judged: the others were overtaken by a job of a higher priority that came later.
    expect(exact).toBeGreaterThan(all / 2);
  });

  test('no later than it starts, where two limits meet costs that differ', () => {
    const property = fc.property(oneBucket({ ...PUNCTUAL, limits: 'two' }), ({ workload }) => {
      const trace = simulate({ ...workload, ...AT_ONCE });
      expect(keptPromises(trace, 'at least').broken).toBeUndefined();
    });
    fc.assert(property, { seed: 52, numRuns: 500 });
  });

  test('of a delayed job no later than it starts', () => {
    const arrival = fc.record({ atUs: fc.nat(50_000), delayMs: fc.nat(60), cost: fc.constantFrom(0.5, 1, 4) });
    const property = fc.property(
      fc.array(arrival, { minLength: 1, maxLength: 30 }),
      fc.constantFrom(10, 100, 5000),
      (drawn, rate) => {
        const arrivals = drawn.map((job) => ({ ...job, tenant: 'a' })).sort((one, other) => one.atUs - other.atUs);
        const trace = simulate({ terms: { a: termsOf({ rate }) }, arrivals, ...AT_ONCE });
        expect(keptPromises(trace).broken).toBeUndefined();
      },
    );
    fc.assert(property, { seed: 51, numRuns: 300 });
  });
});

describe('an idle bucket starts its first jobs', () => {
  test.each<{ title: string; stated: Stated; costs: number[]; ms: number[] }>([
    { title: 'evenly spaced without a burst', stated: { rate: 5 }, costs: [1, 1, 1, 1], ms: [0, 200, 400, 600] },
    {
      title: 'the burst at once, then evenly',
      stated: { rate: 5, burst: 3 },
      costs: [1, 1, 1, 1, 1],
      ms: [0, 0, 0, 200, 400],
    },
    {
      title: 'each after what the one before it cost',
      stated: { rate: 2 },
      costs: [4, 1, 2, 1],
      ms: [0, 2000, 2500, 3500],
    },
    { title: 'the first at once, whatever it costs', stated: { rate: 1 }, costs: [10_000, 1], ms: [0, 10_000_000] },
    { title: 'a burst is in units, not in jobs', stated: { rate: 1, burst: 5 }, costs: [3, 3, 3], ms: [0, 0, 2000] },
    {
      title: 'a fraction of a burst is a part of an interval',
      stated: { rate: 1, burst: 1.5 },
      costs: [1, 1, 1],
      ms: [0, 500, 1500],
    },
    { title: 'no faster than its jobRate', stated: { rate: 100, jobRate: 4 }, costs: [1, 1, 1], ms: [0, 250, 500] },
    {
      title: 'by whichever of two limits is the slower now',
      stated: { rate: 10, jobRate: 5 },
      costs: [1, 5, 1, 1],
      ms: [0, 200, 600, 700],
    },
    { title: 'all at once when unlimited', stated: {}, costs: [1, 50, 3], ms: [0, 0, 0] },
  ])('$title', ({ stated, costs, ms }) => {
    expect(startsMs(stated, costs)).toEqual(ms);
  });
});

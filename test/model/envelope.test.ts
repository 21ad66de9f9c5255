import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { excessOverEnvelope, excessOverJobRate } from './judges/envelope.js';
import { simulate } from './simulation.js';
import { termsOf } from './terms-of.js';
import { type OneBucket, oneBucket } from './workloads.js';

const RUNS = { seed: 20, numRuns: 400 };

function startsOf(trace: ReturnType<typeof simulate>) {
  return trace.starts.map(({ startedAtUs = 0, cost }) => ({ atUs: startedAtUs, cost }));
}

describe('no window holds more than burst − 1 + c_max + rate · (t + slack)', () => {
  test.each([
    { title: 'when workers look in time', changes: 0, lateness: 0 },
    { title: 'when they look late, within the slack', changes: 0, lateness: 1 },
    { title: 'when they look late, far beyond the slack', changes: 0, lateness: 20 },
    { title: 'when the rate changes on the way', changes: 4, lateness: 0 },
    { title: 'when the rate changes and they look late', changes: 4, lateness: 5 },
  ])('$title', ({ changes, lateness }) => {
    const property = fc.property(oneBucket({ changes, lateness }), ({ workload, epochs }) => {
      const trace = simulate(workload);
      expect(trace.starts).toHaveLength(workload.arrivals.length);
      const terms = epochs.map(({ fromUs, stated }) => ({ fromUs, terms: termsOf(stated) }));
      expect(excessOverEnvelope(startsOf(trace), terms)).toBeLessThanOrEqual(0);
      expect(excessOverJobRate(startsOf(trace), terms)).toBeLessThanOrEqual(0);
    });
    fc.assert(property, RUNS);
  });
});

test('nor does it where a job costs less than was thought, which is known only at its end', () => {
  const workloads = oneBucket({ changes: 0, lateness: 3 });
  const property = fc.property(
    workloads,
    fc.array(fc.double({ min: 1, max: 50, noNaN: true }), { minLength: 1 }),
    drawn,
  );
  function drawn({ workload, epochs }: OneBucket, factors: readonly number[]): void {
    const arrivals = workload.arrivals.map((arrival, i) => {
      return { ...arrival, thought: Math.min(10_000, arrival.cost * (factors[i % factors.length] ?? 1)) };
    });
    const trace = simulate({ ...workload, arrivals, costKnown: 'at the end' });
    const terms = epochs.map(({ fromUs, stated }) => ({ fromUs, terms: termsOf(stated) }));
    expect(excessOverEnvelope(startsOf(trace), terms)).toBeLessThanOrEqual(0);
    expect(excessOverJobRate(startsOf(trace), terms)).toBeLessThanOrEqual(0);
  }
  fc.assert(property, RUNS);
});

describe("the type's own rate holds over all its buckets", () => {
  test('whatever they are entitled to', () => {
    const capacity = fc.record({
      emissionUs: fc.integer({ min: 1000, max: 1_000_000 }),
      burst: fc.integer({ min: 1, max: 10 }),
    });
    const property = fc.property(
      oneBucket({ changes: 0, lateness: 3 }),
      capacity,
      ({ workload }, { emissionUs, burst }) => {
        const slackUs = 25_000;
        const tenants = ['a', 'b', 'c'];
        const trace = simulate({
          ...workload,
          terms: Object.fromEntries(tenants.map((tenant) => [tenant, termsOf({})])),
          arrivals: workload.arrivals.map((arrival, i) => ({ ...arrival, tenant: tenants[i % 3] ?? 'a' })),
          capacity: { emissionUs, burst, concurrency: 1e15, slackUs },
        });
        const terms = termsOf({ rate: 1e6 / emissionUs, burst, slackUs });
        expect(excessOverEnvelope(startsOf(trace), [{ fromUs: 0, terms }])).toBeLessThanOrEqual(0);
      },
    );
    fc.assert(property, RUNS);
  });
});

describe('the judge', () => {
  const terms = termsOf({ rate: 1, burst: 1, slackUs: 0 });
  const at = (...seconds: number[]) => seconds.map((s) => ({ atUs: s * 1e6, cost: 1 }));

  test.each([
    { title: 'accepts an even spacing', starts: at(0, 1, 2, 3), excess: 0 },
    { title: 'rejects two at once', starts: at(0, 1, 1, 2), excess: 1 },
    { title: 'rejects a burst after a pause', starts: at(0, 10, 10.1, 10.2), excess: 1.8 },
    { title: 'accepts what comes late', starts: at(0, 5, 9, 20), excess: -1 },
  ])('$title', ({ starts, excess }) => {
    const found = excessOverEnvelope(starts, [{ fromUs: 0, terms }]);
    if (excess > 0) expect(found).toBeCloseTo(excess, 5);
    else expect(found).toBeLessThanOrEqual(0);
  });

  test('counts ∫rate dt where the rate was changed', () => {
    const faster = termsOf({ rate: 10, burst: 1, slackUs: 0 });
    const epochs = [
      { fromUs: 0, terms },
      { fromUs: 2e6, terms: faster },
    ];
    expect(excessOverEnvelope(at(0, 1, 2, 2.1, 2.2), epochs)).toBeLessThanOrEqual(0);
    expect(excessOverEnvelope(at(0, 1, 1.9, 2, 2.1), epochs)).toBeGreaterThan(0);
  });
});

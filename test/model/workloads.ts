import fc from 'fast-check';
import type { Arrival, Workload } from './simulation.js';
import { type Stated, termsOf } from './terms-of.js';

/** Evenly over the orders of magnitude. */
function logUniform(least: number, most: number): fc.Arbitrary<number> {
  const range = { min: Math.log(least), max: Math.log(most), noNaN: true };
  return fc.double(range).map((x) => Math.min(most, Math.max(least, Math.exp(x))));
}

const few = <Item>(item: fc.Arbitrary<Item>, most: number) => fc.array(item, { minLength: 1, maxLength: most });

/** 0.001 to 10,000, often small whole numbers. */
export const cost = fc.oneof(fc.integer({ min: 1, max: 5 }), logUniform(0.001, 10_000));

const burst = fc.oneof(fc.constant(1), fc.double({ min: 1, max: 20, noNaN: true }));

export interface OneBucketOptions {
  /** How often the rate changes on the way, at most. */
  readonly changes: number;
  /** How late workers look, in slacks, at most. */
  readonly lateness: number;
  /** Whether the bucket has a jobRate beside its rate. */
  readonly limits?: 'one' | 'two' | 'any';
  /** Whether jobs differ in cost. */
  readonly costs?: 'equal' | 'any';
  /** The least slack, in microseconds. */
  readonly leastSlackUs?: number;
}

/** A workload of one bucket `a`, and the terms that hold of it one after the other. */
export interface OneBucket {
  readonly workload: Workload;
  readonly epochs: readonly { readonly fromUs: number; readonly stated: Stated }[];
}

/**
 * One bucket with any rate, burst and slack, and jobs of any cost that come one by one, in heaps and after pauses. Times
 * are in emission intervals, so that at any rate there is something to hold back.
 */
export function oneBucket(options: OneBucketOptions): fc.Arbitrary<OneBucket> {
  const { limits = 'any', costs = 'any', leastSlackUs = 0 } = options;
  const factor = logUniform(0.2, 5);
  const jobRateFactor = { one: fc.constant(undefined), two: factor, any: fc.option(factor, { nil: undefined }) }[
    limits
  ];
  return fc
    .record({
      rates: fc.array(logUniform(1e-3, 1e4), { minLength: 1, maxLength: options.changes + 1 }),
      jobRateFactor,
      burst,
      slack: fc.double({ min: 0, max: 2, noNaN: true }),
      jobs: fc.array(fc.record({ gap: fc.oneof(fc.constant(0), logUniform(0.01, 20)), cost, priority: fc.nat(9) }), {
        minLength: 1,
        maxLength: 60,
      }),
      changeGaps: few(logUniform(0.5, 30), 5),
      lateness: few(fc.double({ min: 0, max: options.lateness, noNaN: true }), 8),
      slots: fc.constantFrom(1, 3, 1000),
      service: few(fc.oneof(fc.constant(0), logUniform(0.01, 5)), 5),
    })
    .map((drawn): OneBucket => {
      const { rates, jobRateFactor: perUnit, slack } = drawn;
      const stateds = rates.map((rate): Stated => {
        const jobRate = perUnit === undefined ? {} : { jobRate: rate * perUnit };
        return { rate, burst: drawn.burst, slackUs: Math.max(leastSlackUs, (slack * 1e6) / rate), ...jobRate };
      });
      const intervalUs = 1e6 / Math.min(...rates);
      let fromUs = 0;
      const epochs = stateds.map((stated, i) => {
        if (i > 0) fromUs += Math.round((drawn.changeGaps[i % drawn.changeGaps.length] ?? 1) * intervalUs);
        return { fromUs, stated };
      });
      let atUs = 0;
      const arrivals = drawn.jobs.map(({ gap, cost, priority }): Arrival => {
        atUs += Math.round(gap * intervalUs);
        return { atUs, tenant: 'a', cost: costs === 'equal' ? (drawn.jobs[0]?.cost ?? 1) : cost, priority };
      });
      const [first = {}, ...later] = stateds;
      return {
        epochs,
        workload: {
          terms: { a: termsOf(first) },
          changes: later.map((stated, i) => ({
            atUs: epochs[i + 1]?.fromUs ?? 0,
            tenant: 'a',
            terms: termsOf(stated),
          })),
          arrivals,
          slots: drawn.slots,
          latenessUs: drawn.lateness.map((slacks) => Math.round(slacks * slack * intervalUs)),
          serviceUs: drawn.service.map((intervals) => Math.round(intervals * intervalUs)),
        },
      };
    });
}

/** Buckets that no rate and no cap holds back, so that each is ready while something of it waits. */
export interface ReadyBuckets {
  readonly workload: Workload;
  readonly weights: Readonly<Record<string, number>>;
}

/**
 * A few buckets of any weights, with jobs of any costs, that share any number of slots. They come and go: each has its
 * jobs in heaps with pauses between, some long enough to be idle.
 */
export function readyBuckets(): fc.Arbitrary<ReadyBuckets> {
  const heap = fc.record({ gap: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 200_000 })), costs: few(cost, 25) });
  const bucket = fc.record({ weight: logUniform(0.05, 50), heaps: few(heap, 4) });
  return fc
    .record({
      buckets: fc.array(bucket, { minLength: 2, maxLength: 5 }),
      slots: fc.integer({ min: 1, max: 8 }),
      service: few(fc.nat(20_000), 6),
    })
    .map(({ buckets, slots, service }): ReadyBuckets => {
      const named = buckets.map((bucket, i) => ({ ...bucket, tenant: String.fromCharCode(97 + i) }));
      const arrivals = named.flatMap(({ tenant, heaps }) => {
        let atUs = 0;
        return heaps.flatMap(({ gap, costs }) => {
          atUs += gap;
          return costs.map((cost): Arrival => ({ atUs, tenant, cost }));
        });
      });
      const byTime = [...arrivals].sort((one, other) => one.atUs - other.atUs);
      return {
        weights: Object.fromEntries(named.map(({ tenant, weight }) => [tenant, weight])),
        workload: {
          terms: Object.fromEntries(named.map(({ tenant, weight }) => [tenant, termsOf({ weight })])),
          arrivals: byTime,
          slots,
          latenessUs: [0],
          serviceUs: service,
        },
      };
    });
}

import fc from 'fast-check';
import type { BucketContract, TypeContract } from '../contract.js';
import type { StatedTerms } from '../trace.js';
import type { Arrival, Retuning, Scenario } from './scenario.js';

const TENANTS = ['acme', 'globex', 'initech'];
/** Rates whose intervals are whole milliseconds, and some whose are not. */
const RATES = [0.5, 1, 2, 3, 5, 7, 10, 40, 200];

const rate = fc.constantFrom(...RATES);

/** Terms of a bucket: with or without a rate, a job rate, a depth, a cap. */
const terms: fc.Arbitrary<StatedTerms> = fc.record(
  {
    ratePerSecond: rate,
    burst: fc.integer({ min: 1, max: 5 }),
    jobRatePerSecond: rate,
    depth: fc.integer({ min: 1, max: 20 }),
    concurrency: fc.integer({ min: 1, max: 4 }),
    weight: fc.integer({ min: 1, max: 4 }),
  },
  { requiredKeys: [] },
);

const type: fc.Arbitrary<TypeContract> = fc.record(
  {
    type: fc.constant('ocr'),
    slots: fc.integer({ min: 1, max: 8 }),
    slackMs: fc.constantFrom(25, 100),
    capacity: fc.record(
      { ratePerSecond: rate, burst: fc.integer({ min: 1, max: 10 }), concurrency: fc.integer({ min: 1, max: 8 }) },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['type'] },
);

const arrival: fc.Arbitrary<Arrival> = fc.record({
  at: fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 8000 })),
  tenant: fc.constantFrom(...TENANTS),
  priority: fc.oneof(
    { weight: 4, arbitrary: fc.constant(4) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 9 }) },
  ),
  delayMs: fc.oneof(
    { weight: 5, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 3000 }) },
  ),
  cost: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 6 }) }),
  sendMs: fc.integer({ min: 0, max: 8 }),
  replyMs: fc.integer({ min: 0, max: 8 }),
  showMs: fc.integer({ min: 0, max: 20 }),
  workMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 400 })),
  failures: fc.oneof(
    { weight: 9, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 2 }) },
  ),
  cancelAfterMs: fc.option(fc.integer({ min: 0, max: 2000 }), { freq: 12 }),
});

const retuning: fc.Arbitrary<Retuning> = fc.record({
  at: fc.integer({ min: 0, max: 6000 }),
  tenant: fc.constantFrom(...TENANTS),
  terms: fc.record(
    { ratePerSecond: rate, burst: fc.integer({ min: 1, max: 5 }), concurrency: fc.integer({ min: 1, max: 4 }) },
    { requiredKeys: ['ratePerSecond'] },
  ),
});

/** Everything at once: rates, caps, capacity, delays, failures, cancellations and changes. */
const mixed: fc.Arbitrary<Scenario> = fc
  .record({
    type,
    buckets: fc.tuple(
      ...TENANTS.map((tenant) => terms.map((each): BucketContract => ({ type: 'ocr', tenant, ...each }))),
    ),
    arrivals: fc.array(arrival, { minLength: 1, maxLength: 120, size: 'max' }),
    changes: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(retuning, { maxLength: 3 }) },
    ),
  })
  .map(({ type: each, buckets, arrivals, changes }) => ({ contract: { types: [each], buckets }, arrivals, changes }));

/** Too few slots for buckets without a rate, so that only fairness decides who starts. */
const contended: fc.Arbitrary<Scenario> = fc
  .record({
    slots: fc.integer({ min: 1, max: 3 }),
    weights: fc.tuple(...TENANTS.map(() => fc.integer({ min: 1, max: 4 }))),
    arrivals: fc.array(
      arrival.map((each) => ({
        ...each,
        at: each.at % 500,
        delayMs: 0,
        workMs: 20 + (each.workMs % 80),
        cancelAfterMs: null,
      })),
      { minLength: 30, maxLength: 120, size: 'max' },
    ),
  })
  .map(({ slots, weights, arrivals }) => ({
    contract: {
      types: [{ type: 'ocr', slots }],
      buckets: TENANTS.map((tenant, index) => ({ type: 'ocr', tenant, weight: weights[index] ?? 1 })),
    },
    arrivals,
    changes: [],
  }));

/** More than the rates let through and the depths hold, while slots abound: every promise must be kept to the letter. */
const flooded: fc.Arbitrary<Scenario> = fc
  .record({
    buckets: fc.tuple(
      ...TENANTS.map((tenant) =>
        fc
          .record({
            ratePerSecond: rate,
            burst: fc.integer({ min: 1, max: 5 }),
            depth: fc.integer({ min: 3, max: 40 }),
          })
          .map((each): BucketContract => ({ type: 'ocr', tenant, ...each })),
      ),
    ),
    arrivals: fc.array(
      arrival.map((each) => ({ ...each, at: each.at % 4000, priority: 4, failures: 0, cancelAfterMs: null })),
      { minLength: 30, maxLength: 120, size: 'max' },
    ),
  })
  .map(({ buckets, arrivals }) => ({ contract: { types: [{ type: 'ocr' }], buckets }, arrivals, changes: [] }));

/** Random contracts and random work for them. */
export const scenarios: fc.Arbitrary<Scenario> = fc.oneof(mixed, contended, flooded);

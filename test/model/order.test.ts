import fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstOutOfOrder } from './judges/order.js';
import { simulate } from './simulation.js';
import { termsOf } from './terms-of.js';

const arrival = fc.record({
  gapUs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 40_000 })),
  tenant: fc.constantFrom('a', 'b'),
  cost: fc.constantFrom(0.5, 1, 3),
  priority: fc.nat(9),
  delayMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 100 })),
});

test('within one bucket and one priority, jobs first start in the order in which they were admitted or fell due', () => {
  const property = fc.property(
    fc.array(arrival, { minLength: 1, maxLength: 100 }),
    fc.integer({ min: 1, max: 4 }),
    fc.constantFrom(20, 500, Infinity),
    (drawn, slots, rate) => {
      let atUs = 0;
      const arrivals = drawn.map(({ gapUs, ...job }) => {
        atUs += gapUs;
        return { ...job, atUs };
      });
      const terms = { a: termsOf({ rate }), b: termsOf({ rate, concurrency: 2 }) };
      const { starts } = simulate({ terms, arrivals, slots, latenessUs: [0, 7000, 300], serviceUs: [0, 9000, 40_000] });
      expect(starts).toHaveLength(arrivals.length);
      expect(firstOutOfOrder(starts)).toBeUndefined();
    },
  );
  fc.assert(property, { seed: 40, numRuns: 400 });
});

test('of what waits at one instant the highest priority starts first', () => {
  const priorities = [3, 9, 0, 4, 0, 1];
  const arrivals = priorities.map((priority) => ({ atUs: 0, tenant: 'a', cost: 1, priority }));
  const first = { atUs: 0, tenant: 'a', cost: 1, priority: 9 };
  const { starts } = simulate({
    terms: { a: termsOf({ rate: 10 }) },
    arrivals: [first, ...arrivals],
    slots: 1,
    latenessUs: [0],
    serviceUs: [0],
  });
  expect(starts.map(({ priority }) => priority)).toEqual([9, 0, 0, 1, 3, 4, 9].sort((one, other) => one - other));
});

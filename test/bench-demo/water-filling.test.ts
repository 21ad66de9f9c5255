import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { waterFilling } from '../../bench/demo/water-filling.js';

const unlimited = (weight: number) => ({ weight, limit: Number.POSITIVE_INFINITY });

describe('water-filling', () => {
  it.each([
    ['alone', 6, [unlimited(1)], [6]],
    ['by weight', 7, [unlimited(4), unlimited(2), unlimited(1)], [4, 2, 1]],
    [
      'what a limited one leaves goes to the others by weight',
      4,
      [{ weight: 4, limit: 1 }, unlimited(2), unlimited(1)],
      [1, 2, 1],
    ],
    ['a limit that does not bind changes nothing', 7, [{ weight: 4, limit: 5 }, unlimited(2), unlimited(1)], [4, 2, 1]],
    [
      'one limit after the other',
      12,
      [{ weight: 1, limit: 1 }, { weight: 1, limit: 4.5 }, unlimited(1)],
      [1, 4.5, 6.5],
    ],
    [
      'more than all may take',
      10,
      [
        { weight: 1, limit: 2 },
        { weight: 5, limit: 3 },
      ],
      [2, 3],
    ],
    ['nobody there', 3, [], []],
  ])('%s', (_, capacity, claims, given) => {
    expect(waterFilling(capacity, claims)).toEqual(given);
  });

  it('gives all there is, nobody above a limit, and equal parts per weight to those who could take more', () => {
    const claim = fc.record({
      weight: fc.integer({ min: 1, max: 100 }),
      limit: fc.oneof(fc.double({ min: 0.01, max: 50, noNaN: true }), fc.constant(Number.POSITIVE_INFINITY)),
    });
    fc.assert(
      fc.property(
        fc.double({ min: 0.1, max: 100, noNaN: true }),
        fc.array(claim, { minLength: 1, maxLength: 8 }),
        (capacity, claims) => {
          const parts = claims.map((one, index) => ({
            ...one,
            given: waterFilling(capacity, claims)[index] ?? Number.NaN,
          }));
          const wanted = claims.reduce((sum, { limit }) => sum + limit, 0);
          expect(parts.reduce((sum, { given }) => sum + given, 0)).toBeCloseTo(Math.min(capacity, wanted), 6);
          const open = parts.filter(({ given, limit }) => given < limit - 1e-9);
          const level = open[0] === undefined ? Number.POSITIVE_INFINITY : open[0].given / open[0].weight;
          for (const { given, limit } of parts) expect(given).toBeLessThanOrEqual(limit);
          for (const { given, weight } of open) expect(given / weight).toBeCloseTo(level, 6);
          for (const { given, weight } of parts) expect(given / weight).toBeLessThanOrEqual(level + 1e-6);
        },
      ),
    );
  });
});

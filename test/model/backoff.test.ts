import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Backoff, backoffMs } from '../../src/model/backoff.js';

const exponential: Backoff = { type: 'exponential', delayMs: 1000, maxMs: 60_000 };

describe('the pause before another attempt', () => {
  test.each<[Backoff, number, number, number]>([
    [exponential, 1, 1000, 1250],
    [exponential, 2, 2000, 2500],
    [exponential, 6, 32_000, 40_000],
    [exponential, 7, 60_000, 75_000],
    [exponential, 1_000_000, 60_000, 75_000],
    [{ ...exponential, type: 'fixed' }, 1, 1000, 1250],
    [{ ...exponential, type: 'fixed' }, 9, 1000, 1250],
    [{ ...exponential, type: 'fixed', maxMs: 500 }, 1, 500, 625],
    [{ ...exponential, delayMs: 0 }, 5, 0, 0],
  ])('of %j after attempt %d is from %d to %d ms', (backoff, attempt, least, most) => {
    expect([backoffMs(backoff, attempt, () => 0), backoffMs(backoff, attempt, () => 1)]).toEqual([least, most]);
  });

  const backoffs = fc.record({
    type: fc.constantFrom('fixed' as const, 'exponential' as const),
    delayMs: fc.integer({ min: 0, max: 1e6 }),
    maxMs: fc.integer({ min: 0, max: 1e8 }),
  });
  const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  test('is a whole number within a quarter above its longest, and never shorter after a later attempt', () => {
    fc.assert(
      fc.property(backoffs, fc.integer({ min: 1, max: 1e6 }), unit, (backoff, attempt, random) => {
        const pause = backoffMs(backoff, attempt, () => random);
        expect(Number.isInteger(pause)).toBe(true);
        expect(pause).toBeGreaterThanOrEqual(0);
        expect(pause).toBeLessThanOrEqual(Math.round(backoff.maxMs * 1.25));
        expect(backoffMs(backoff, attempt + 1, () => random)).toBeGreaterThanOrEqual(pause);
      }),
    );
  });
});

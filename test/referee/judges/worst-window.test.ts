import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Leak, type Passage, worstWindow } from './worst-window.js';

const TOLERANCE_MS = 25;

const passages = fc
  .array(fc.record({ at: fc.integer({ min: 0, max: 2000 }), amount: fc.integer({ min: 1, max: 5 }) }), {
    maxLength: 40,
  })
  .map((list) => list.toSorted((a, b) => a.at - b.at));

const leaks: fc.Arbitrary<Leak[]> = fc
  .array(
    fc.record({
      from: fc.integer({ min: 0, max: 2000 }),
      ratePerSecond: fc.constantFrom(0, 1, 5, 20, 100, Infinity),
      burst: fc.integer({ min: 1, max: 5 }),
      slackMs: fc.integer({ min: 25, max: 250 }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((list) =>
    list.toSorted((a, b) => a.from - b.from).map((leak, index) => (index === 0 ? { ...leak, from: -Infinity } : leak)),
  );

/** The greatest excess over every pair of passages, straight from the guarantee's sentence; `-Infinity` when there is no pair. */
function greatestExcess(all: readonly Passage[], terms: readonly Leak[]): number {
  let greatest = -Infinity;
  for (const [i, first] of all.entries()) {
    for (const [j, last] of all.entries()) {
      const end = terms.findLast((leak) => leak.from <= last.at);
      const spanned = terms.filter((leak, index) => {
        const until = terms[index + 1]?.from ?? Infinity;
        return leak.from <= last.at && until > first.at;
      });
      if (j <= i || end === undefined || spanned.some((leak) => leak.ratePerSecond === Infinity)) continue;
      const amount = all.slice(i, j + 1).reduce((sum, each) => sum + each.amount, 0);
      const leaked = spanned.reduce((sum, leak) => {
        const until = Math.min(last.at, terms[terms.indexOf(leak) + 1]?.from ?? Infinity);
        return sum + (leak.ratePerSecond * Math.max(0, until - Math.max(first.at, leak.from))) / 1000;
      }, 0);
      const largest = Math.max(
        ...all
          .slice(0, j + 1)
          .filter((each) => each.at >= last.at - TOLERANCE_MS)
          .map((each) => each.amount),
      );
      const late = Math.max(...spanned.map((leak) => (leak.ratePerSecond * (leak.slackMs + TOLERANCE_MS)) / 1000));
      greatest = Math.max(greatest, amount - (end.burst - 1 + largest) - leaked - late);
    }
  }
  return greatest;
}

describe('the worst window', () => {
  it('is the one that a look at every pair of starts finds', () => {
    fc.assert(
      fc.property(passages, leaks, (all, terms) => {
        const expected = greatestExcess(all, terms);
        const found = worstWindow(all, terms, TOLERANCE_MS);
        if (found === undefined) expect(expected).toBeLessThanOrEqual(1e-5);
        else expect(found.amount - found.allowed).toBeCloseTo(expected, 5);
      }),
      { numRuns: 2000 },
    );
  });

  it('finds one unit too much at the far edge of a window', () => {
    const leak = { from: -Infinity, ratePerSecond: 10, burst: 1, slackMs: 50 };
    const evenly = Array.from({ length: 30 }, (_, index) => ({ at: index * 100, amount: 1 }));
    expect(worstWindow(evenly, [leak], TOLERANCE_MS)).toBeUndefined();
    expect(worstWindow([...evenly, { at: 2901, amount: 1 }], [leak], TOLERANCE_MS)).toMatchObject({
      to: 2901,
      breaches: 1,
    });
  });

  it('does not ask which of two starts came first when they came together', () => {
    const leak = { from: -Infinity, ratePerSecond: 1, burst: 2, slackMs: 0 };
    const large = { at: 5, amount: 9 };
    expect(worstWindow([large, { at: 6, amount: 1 }], [leak], TOLERANCE_MS)).toBeUndefined();
    expect(worstWindow([large, { at: 5 + TOLERANCE_MS + 1, amount: 1 }], [leak], TOLERANCE_MS)).toMatchObject({
      amount: 10,
    });
  });
});

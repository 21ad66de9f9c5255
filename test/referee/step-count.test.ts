import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StepCount } from './step-count.js';

const spans = fc.array(
  fc.record({
    from: fc.integer({ min: 0, max: 50 }),
    to: fc.integer({ min: 0, max: 50 }),
    weight: fc.integer({ min: 1, max: 3 }),
  }),
  { maxLength: 20 },
);

describe('a step count', () => {
  it('holds at each instant what has begun and not ended, and knows the highest of an interval', () => {
    fc.assert(
      fc.property(spans, fc.integer({ min: -1, max: 51 }), fc.integer({ min: 0, max: 20 }), (all, from, length) => {
        const count = new StepCount(all);
        const level = (at: number) =>
          all.reduce((sum, span) => (span.from <= at && span.to > at ? sum + span.weight : sum), 0);
        const instants = Array.from({ length: length + 1 }, (_, index) => from + index);
        expect(count.at(from)).toBe(level(from));
        expect(count.highest(from, from + length)).toBe(Math.max(...instants.map(level)));
      }),
    );
  });
});

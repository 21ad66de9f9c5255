import { describe, expect, test } from 'vitest';
import { slipOf } from '../../src/shaping/slip.js';

const of = (fields: Record<string, string>) => slipOf(new Map(Object.entries(fields)));
const STARTED = { processedOn: '1800000000250', ats: '1' };

describe('the slip of a job', () => {
  test.each([
    { basis: 'rate', promised: 'r1800000000000', slipMs: 250 },
    { basis: 'capacity', promised: 'c1800000000300 1200 2', slipMs: -50 },
    { basis: 'delay', promised: 'd1800000000250', slipMs: 0 },
  ])('is its start less the one promised, by $basis', ({ promised, ...slip }) => {
    expect(of({ ...STARTED, 'hg:w': promised })).toEqual(slip);
  });

  test.each([
    { title: 'before it has started', fields: { 'hg:w': 'r1' } },
    { title: 'once it has started again', fields: { ...STARTED, ats: '2', 'hg:w': 'r1' } },
    { title: 'where nothing was promised', fields: STARTED },
    { title: 'where what stands there is no promise', fields: { ...STARTED, 'hg:w': 'x1' } },
  ])('is not known $title', ({ fields }) => {
    expect(of(fields)).toBeUndefined();
  });
});

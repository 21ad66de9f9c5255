import { expect, test } from 'vitest';
import { SLIP_BOUNDS_MS, SlipHistogram } from '../../workers/slip-histogram.js';

test.each([
  { slipMs: -400_000, bound: -300_000 },
  { slipMs: -10, bound: -10 },
  { slipMs: 0, bound: 0 },
  { slipMs: 1, bound: 10 },
  { slipMs: 300_000, bound: 300_000 },
  { slipMs: 300_001, bound: undefined },
])('a slip of $slipMs ms counts in the bucket up to $bound', ({ slipMs, bound }) => {
  const slips = new SlipHistogram();
  slips.observe('ocr', { basis: 'rate', slipMs });
  const [series] = slips.read();
  expect(series?.counts).toEqual([...SLIP_BOUNDS_MS, undefined].map((each) => (each === bound ? 1 : 0)));
});

test('types and bases are counted apart', () => {
  const slips = new SlipHistogram();
  slips.observe('ocr', { basis: 'rate', slipMs: 3 });
  slips.observe('ocr', { basis: 'rate', slipMs: -5 });
  slips.observe('ocr', { basis: 'capacity', slipMs: 40 });
  slips.observe('chat', { basis: 'rate', slipMs: 7 });
  expect(slips.read().map(({ type, basis, sumMs }) => ({ type, basis, sumMs }))).toEqual([
    { type: 'ocr', basis: 'rate', sumMs: -2 },
    { type: 'ocr', basis: 'capacity', sumMs: 40 },
    { type: 'chat', basis: 'rate', sumMs: 7 },
  ]);
});

test('the bounds grow', () => {
  expect([...SLIP_BOUNDS_MS].sort((one, other) => one - other)).toEqual(SLIP_BOUNDS_MS);
});

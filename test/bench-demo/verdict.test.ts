import { describe, expect, it } from 'vitest';
import type { Fairness } from '../../bench/demo/fairness.js';
import { type Findings, faults } from '../../bench/demo/verdict.js';

const FAIR: Fairness = {
  seconds: 58,
  servedPerSecond: 4,
  slotsBusy: 0.98,
  tenants: [
    { tenant: 'gold', servedPerSecond: 0.99, deservedPerSecond: 1, boundBy: 'rate', offBy: -0.01 },
    { tenant: 'flood', servedPerSecond: 3.01, deservedPerSecond: 3, boundBy: 'share', offBy: 0.003 },
  ],
};
const GOOD: Findings = { seconds: 60, fairness: FAIR, pagesRead: 240, wordAccuracy: 0.99, failures: [] };
const offBy = (part: number): Fairness => ({
  ...FAIR,
  tenants: [{ tenant: 'gold', servedPerSecond: 1 + part, deservedPerSecond: 1, boundBy: 'rate', offBy: part }],
});

describe('the verdict', () => {
  it('finds nothing where all is well, up to the tolerance', () => {
    expect(faults(GOOD)).toEqual([]);
    expect(faults({ ...GOOD, fairness: offBy(0.1) })).toEqual([]);
    expect(faults({ ...GOOD, fairness: offBy(-0.1) })).toEqual([]);
  });

  it.each<[string, Partial<Findings>, RegExp]>([
    ['a tenant that got too much', { fairness: offBy(0.11) }, /^gold was served 1\.11\/s and deserved 1\.00\/s/],
    ['a tenant that got too little', { fairness: offBy(-0.11) }, /^gold was served 0\.89\/s and deserved 1\.00\/s/],
    ['a tenant that cannot be compared', { fairness: offBy(Number.NaN) }, /^gold was served NaN/],
    ['no time with everybody backlogged', { fairness: undefined }, /^At no time/],
    ['too short a time', { fairness: { ...FAIR, seconds: 29 } }, /^All tenants had jobs waiting for 29\.0 s of 60 s/],
    ['idle workers', { fairness: { ...FAIR, slotsBusy: 0.8 } }, /^The workers ran jobs for 80\.0 % of the time/],
    ['wrong text', { wordAccuracy: 0.96 }, /^96\.0 % of the words were right/],
    ['no text', { pagesRead: 0, wordAccuracy: Number.NaN }, /^No page was read/],
    ['failed jobs', { failures: ['out of ink', 'torn'] }, /^2 jobs failed; the first: out of ink/],
  ])('names %s', (_, change, sentence) => {
    const found = faults({ ...GOOD, ...change });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(sentence);
  });
});

import { expect, test } from 'vitest';
import { nearestName, suggestName } from '../../src/config/nearest-name.js';

const KNOWN = ['rate', 'burst', 'jobRate', 'concurrency', 'maxWait'];

test.each([
  ['rte', 'rate'],
  ['ratee', 'rate'],
  ['raet', 'rate'],
  ['RATE', 'rate'],
  ['jobrate', 'jobRate'],
  ['concurency', 'concurrency'],
  ['cuoncurency', 'concurrency'],
  ['brust', 'burst'],
  ['max-wait', 'maxWait'],
])('%s was meant to be %s', (name, meant) => {
  expect(nearestName(name, KNOWN)).toBe(meant);
});

test.each(['weight', 'x', '', 'bruts', '__proto__', 'concurrencyconcurrency'])('%j is near nothing', (name) => {
  expect(
    nearestName(
      name,
      KNOWN.filter((known) => known !== 'burst'),
    ),
  ).toBeUndefined();
});

test('of several, the nearest is named', () => {
  expect(nearestName('rates', ['rater', 'ratesx', 'rates1', 'rate', 'rates'])).toBe('rates');
});

test('without a near one, all are listed', () => {
  expect(suggestName('weight', ['a', 'b'], 'fields here')).toBe('the fields here are a, b');
  expect(suggestName('weight', [], 'tiers')).toBe('there are no tiers');
});

test('a name as long as a book is compared with none', () => {
  expect(nearestName('x'.repeat(1_000_000), KNOWN)).toBeUndefined();
});

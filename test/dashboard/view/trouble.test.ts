import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { crowdOf, deservedOf, jainIndex, median } from '../../../src/dashboard/view/crowd.js';
import { TROUBLES, troublesOf } from '../../../src/dashboard/view/trouble.js';
import { bucket, crowd } from '../support/buckets.js';

const ready = { waiting: 5, nextStartMs: 0 } as const;
const depth = { depth: 100 } as const;

describe('trouble', () => {
  test.each([
    { title: 'nothing waits', of: {}, is: [] },
    { title: 'a tenth of the depth is free', of: { waiting: 90, profile: depth, nextStartMs: 10 }, is: ['full'] },
    { title: 'a little more is free', of: { waiting: 89, profile: depth, nextStartMs: 10 }, is: [] },
    { title: 'delayed jobs fill it', of: { waiting: 40, delayed: 50, profile: depth, nextStartMs: 10 }, is: ['full'] },
    {
      title: 'there is no depth',
      of: { waiting: 1e6, profile: { depth: Infinity }, nextStartMs: 10 },
      in: { isScarce: false },
      is: [],
    },
    { title: 'jobs were refused', of: {}, refused: 1, is: ['refusing'] },
    { title: 'its upstream is busy', of: { ...ready, heldForMs: 1 }, is: ['held'] },
    { title: 'it is paused', of: { waiting: 5, paused: true }, is: ['paused'] },
    {
      title: 'it is ready and got 0.69 of its share',
      of: { ...ready, servedPerSecond: 0.69, deservedPerSecond: 1 },
      is: ['starved'],
    },
    {
      title: 'it is ready and got 0.7 of its share',
      of: { ...ready, servedPerSecond: 0.7, deservedPerSecond: 1 },
      is: [],
    },
    { title: 'it lacks its share and is not ready', of: { waiting: 5, nextStartMs: 9, deservedPerSecond: 1 }, is: [] },
    { title: 'it lacks no more than two jobs', of: { ...ready, deservedPerSecond: 2 / 60 }, is: [] },
    {
      title: 'it lacks no more than two of its large jobs',
      of: { ...ready, waitingCost: 500, deservedPerSecond: 3 },
      is: [],
    },
    { title: 'it took 1.6 of its share', of: { ...ready, servedPerSecond: 1.6, deservedPerSecond: 1 }, is: ['noisy'] },
    { title: 'it took 1.5 of its share', of: { ...ready, servedPerSecond: 1.5, deservedPerSecond: 1 }, is: [] },
    {
      title: 'it took more where workers are enough',
      of: { ...ready, servedPerSecond: 3, deservedPerSecond: 1 },
      in: { isScarce: false },
      is: [],
    },
    {
      title: 'it took more and nobody else wants any',
      of: { ...ready, servedPerSecond: 3, deservedPerSecond: 1 },
      in: { ready: 1 },
      is: [],
    },
    { title: 'it took more of very little', of: { ...ready, servedPerSecond: 0.1, deservedPerSecond: 0.01 }, is: [] },
    { title: 'ten times the median waits in it', of: { ...ready, waiting: 100 }, is: ['noisy'] },
    { title: 'nearly ten times the median waits in it', of: { ...ready, waiting: 99 }, is: [] },
    { title: 'as much was turned away', of: ready, refused: 95, is: ['refusing', 'noisy'] },
    {
      title: 'its rate is what holds it, however little it competed',
      of: { ...ready, servedPerSecond: 1.5, deservedPerSecond: 0.5 },
      in: { fairPerWeight: 7 },
      is: [],
    },
    { title: 'there are too few for a median', of: { ...ready, waiting: 100 }, in: { backlogged: 2 }, is: [] },
    {
      title: 'everything is wrong',
      of: { waiting: 100, nextStartMs: 0, paused: true, heldForMs: 1, profile: depth },
      refused: 2,
      is: ['full', 'refusing', 'noisy', 'held', 'paused'],
    },
  ])('where $title: $is', ({ of, refused = 0, in: others = {}, is }) => {
    expect(troublesOf(bucket(of), refused, crowd(others))).toEqual(is);
  });

  test('is told the gravest first, and each once, whatever a bucket is like', () => {
    const amount = fc.oneof(fc.nat(1000), fc.double({ min: 0, max: 100, noNaN: true }));
    const any = fc.record({
      waiting: fc.nat(1000),
      delayed: fc.nat(100),
      nextStartMs: fc.oneof(fc.constant(0), fc.constant(null), fc.nat()),
      servedPerSecond: amount,
      deservedPerSecond: amount,
      paused: fc.boolean(),
      heldForMs: fc.nat(2),
    });
    fc.assert(
      fc.property(any, fc.nat(3), (of, refused) => {
        const found = troublesOf(bucket(of), refused, crowd());
        expect(found).toEqual(TROUBLES.filter((trouble) => found.includes(trouble)));
        expect(found.includes('starved') && found.includes('held')).toBe(false);
      }),
    );
  });
});

describe("Jain's index", () => {
  test.each([
    { shares: [], is: null },
    { shares: [1], is: null },
    { shares: [0, 0], is: null },
    { shares: [1, 1, 1, 1], is: 1 },
    { shares: [1, 0, 0, 0], is: 0.25 },
    { shares: [1, 2], is: 0.9 },
  ])('of $shares is $is', ({ shares, is }) => {
    expect(jainIndex(shares)).toEqual(is === null ? null : expect.closeTo(is, 12));
  });

  test('lies between 1/n and 1, and the scale does not matter', () => {
    const shares = fc.array(fc.double({ min: 0.01, max: 100, noNaN: true }), { minLength: 2, maxLength: 20 });
    fc.assert(
      fc.property(shares, fc.double({ min: 0.1, max: 10, noNaN: true }), (given, scale) => {
        const index = jainIndex(given) ?? Number.NaN;
        expect(index).toBeGreaterThanOrEqual(1 / given.length - 1e-9);
        expect(index).toBeLessThanOrEqual(1 + 1e-9);
        expect(jainIndex(given.map((share) => share * scale))).toBeCloseTo(index, 9);
      }),
    );
  });
});

test.each([
  { values: [], is: 0 },
  { values: [7], is: 7 },
  { values: [9, 1], is: 5 },
  { values: [100, 1, 10], is: 10 },
])('the median of $values is $is', ({ values, is }) => {
  expect(median(values)).toBe(is);
});

describe('a bucket that received 5 and was counted 2 while it competed', () => {
  test.each([
    { title: 'deserves 2 where others who always compete got no more', of: ready, fairPerWeight: 2, is: 2 },
    {
      title: 'deserves all that it asked for, where there was more for whoever always competes',
      of: ready,
      fairPerWeight: 9,
      is: 5,
    },
    {
      title: 'deserves its part of that by its weight',
      of: { ...ready, profile: { weight: 2 } },
      fairPerWeight: 2,
      is: 4,
    },
    { title: 'deserves what it received where workers are enough', of: ready, isScarce: false, is: 5 },
    { title: 'deserves what it received while its own rate holds it', of: { waiting: 5, nextStartMs: 9 }, is: 5 },
  ])('$title', ({ of, isScarce = true, fairPerWeight = 2, is }) => {
    const one = bucket({ ...of, servedPerSecond: 5, deservedPerSecond: 2 });
    expect(deservedOf(one, { isScarce, fairPerWeight })).toBe(is);
  });
});

test('a crowd is judged by what is backlogged: what is idle or had no share says nothing of fairness', () => {
  const all = [
    bucket({ ...ready, servedPerSecond: 2, deservedPerSecond: 2 }),
    bucket({ ...ready, servedPerSecond: 1, deservedPerSecond: 2 }),
    bucket({ servedPerSecond: 9, deservedPerSecond: 1 }),
    bucket({ waiting: 1, nextStartMs: 50, servedPerSecond: 1 }),
  ];
  const found = crowdOf({ servedPerSecond: 13, scarceForMs: null }, all);
  expect(found).toMatchObject({ servedPerSecond: 13, isScarce: false, ready: 2, backlogged: 3, medianBacklog: 5 });
  // Without scarcity everybody received what he asked for, or less.
  expect(found.jain).toBeCloseTo((1 + 0.5 + 1) ** 2 / (3 * (1 + 0.25 + 1)), 12);
});

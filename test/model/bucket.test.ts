import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  becomeBacklogged,
  EMPTY_BUCKET,
  etaUs,
  levelAt,
  type Pace,
  reRate,
  startableAtUs,
  startJob,
} from '../../src/model/bucket.js';
import { DEFAULT_PROFILE, emissionUs, slackUs } from '../../src/model/profile.js';
import { BEGIN_US, simulate } from './simulation.js';
import { type Stated, termsOf } from './terms-of.js';

const SECOND = 1_000_000;

function pace(ratePerSecond: number, rest: Partial<Pace> = {}): Pace {
  return { emissionUs: emissionUs(ratePerSecond), jobEmissionUs: 0, burst: 1, slackUs: 0, ...rest };
}

/** A bucket in which `units` are at `nowUs`. */
const holding = (units: number, p: Pace, nowUs: number) => ({ tatUs: nowUs + units * p.emissionUs, jobTatUs: 0 });

/** Starts, in seconds, of jobs that come to an idle bucket at the given seconds. */
function starts(
  stated: Stated,
  jobs: readonly { readonly at: number; readonly n: number; readonly cost?: number }[],
): number[] {
  const arrivals = jobs.flatMap(({ at, n, cost = 1 }) => Array(n).fill({ atUs: at * SECOND, tenant: 'a', cost }));
  const trace = simulate({ terms: { a: termsOf(stated) }, arrivals, slots: 5000, latenessUs: [0], serviceUs: [0] });
  return trace.starts.map(({ startedAtUs = 0 }) => startedAtUs / SECOND);
}

describe('worked examples', () => {
  test('100 units at 2 a second: of 1,000 jobs at once 100 start at once, and 42 more within 21 s', () => {
    const all = starts({ rate: 2, burst: 100 }, [{ at: 0, n: 1000 }]);
    expect(all.filter((s) => s === 0)).toHaveLength(100);
    expect(all.filter((s) => s > 0 && s <= 21)).toHaveLength(42);
  });

  test('10 units at 5 a second: of 12 jobs 10 start at once, the others after 0.2 and 0.4 s, and 5 in each second', () => {
    const all = starts({ rate: 5, burst: 10 }, [{ at: 0, n: 20 }]);
    expect(all.slice(0, 12)).toEqual([...Array(10).fill(0), 0.2, 0.4]);
    expect(all.filter((s) => s > 0 && s <= 1)).toHaveLength(5);
  });

  test('5 units at 2 a second, used up: after 3 s there are 5 again, not 6', () => {
    const all = starts({ rate: 2, burst: 5 }, [
      { at: 0, n: 5 },
      { at: 3, n: 10 },
    ]);
    expect(all.filter((s) => s === 3)).toHaveLength(5);
  });

  test('an upload that costs 10: ten of them use up 100 units, the eleventh waits half a second', () => {
    const all = starts({ rate: 2, burst: 100 }, [{ at: 0, n: 11, cost: 10 }]);
    expect(all).toEqual([...Array(10).fill(0), 0.5]);
  });

  test('no window has an edge: 100 at the end of one minute leave nothing for the beginning of the next', () => {
    const all = starts({ rate: 100 / 60, burst: 100 }, [
      { at: 59, n: 100 },
      { at: 61, n: 100 },
    ]);
    expect(all.filter((s) => s >= 59 && s <= 61).length).toBeLessThanOrEqual(104);
  });

  test('twenty jobs at 5 a second start at every fifth of a second', () => {
    expect(starts({ rate: 5 }, [{ at: 0, n: 20 }])).toEqual(Array.from({ length: 20 }, (_, k) => k / 5));
  });

  test('ten jobs at two thirds a second all start, in 13.5 s', () => {
    const all = starts({ rate: 2 / 3 }, [{ at: 0, n: 10 }]);
    expect(all).toHaveLength(10);
    expect(all.at(-1)).toBeCloseTo(13.5, 5);
  });
});

describe('the level', () => {
  test.each([
    { after: 0, level: 3 },
    { after: 0.5, level: 2 },
    { after: 1.25, level: 0.5 },
    { after: 1.5, level: 0 },
    { after: 1e9, level: 0 },
  ])('of 3 units at 2 a second is $level after $after s', ({ after, level }) => {
    expect(levelAt(holding(3, pace(2), BEGIN_US), pace(2), BEGIN_US + after * SECOND)).toBe(level);
  });

  test('is 0 where nothing is counted', () => {
    expect(levelAt(holding(3, pace(2), BEGIN_US), pace(Infinity), BEGIN_US)).toBe(0);
  });

  test('of a bucket that was idle for ten years is 0, not less: nothing is saved up', () => {
    const later = BEGIN_US + 10 * 365 * 86_400 * SECOND;
    const state = becomeBacklogged(holding(3, pace(2), BEGIN_US), later);
    expect(startableAtUs(state, pace(2))).toBe(later);
    expect(levelAt(startJob(state, pace(2), 1, later), pace(2), later)).toBe(1);
  });
});

describe('a start', () => {
  test.each([
    { title: 'in time takes the next place', lateUs: 0, nextUs: 500_000 },
    { title: 'late within the slack keeps its place', lateUs: 20_000, nextUs: 500_000 },
    { title: 'late by all of the slack keeps its place', lateUs: 50_000, nextUs: 500_000 },
    { title: 'later than that moves the schedule by the rest', lateUs: 80_000, nextUs: 530_000 },
    { title: 'very late brings no burst', lateUs: 100 * SECOND, nextUs: 100 * SECOND - 50_000 + 500_000 },
  ])('$title', ({ lateUs, nextUs }) => {
    const p = pace(2, { slackUs: 50_000 });
    const state = startJob(becomeBacklogged(EMPTY_BUCKET, BEGIN_US), p, 1, BEGIN_US + lateUs);
    expect(startableAtUs(state, p)).toBe(BEGIN_US + nextUs);
  });

  test('is charged what it costs, in units and in jobs', () => {
    const p = pace(10, { jobEmissionUs: 300_000 });
    const state = startJob(becomeBacklogged(EMPTY_BUCKET, BEGIN_US), p, 2.5, BEGIN_US);
    expect(state).toEqual({ tatUs: BEGIN_US + 250_000, jobTatUs: BEGIN_US + 300_000 });
    expect(startableAtUs(state, p)).toBe(BEGIN_US + 300_000);
  });
});

describe('a change of the rate', () => {
  const rate = fc.double({ min: 1e-4, max: 1e5, noNaN: true });

  test('keeps the level, whatever the rates', () => {
    const property = fc.property(rate, rate, fc.double({ min: 0, max: 1e4, noNaN: true }), (from, to, level) => {
      const before = holding(level, pace(from), BEGIN_US);
      const after = levelAt(reRate(before, pace(from), pace(to), BEGIN_US), pace(to), BEGIN_US);
      // An instant is kept to a hundredth of a microsecond; at 1e5 a second that is a thousandth of a unit.
      expect(Math.abs(after - level)).toBeLessThan(
        0.02 * (1 / pace(from).emissionUs + 1 / pace(to).emissionUs) + level * 1e-9,
      );
    });
    fc.assert(property, { seed: 60, numRuns: 2000 });
  });

  test('there and back is as if nothing had been', () => {
    const property = fc.property(rate, rate, fc.double({ min: 0, max: 1e3, noNaN: true }), (from, to, level) => {
      const before = holding(level, pace(from), BEGIN_US);
      const back = reRate(reRate(before, pace(from), pace(to), BEGIN_US), pace(to), pace(from), BEGIN_US);
      const lost = Math.abs(back.tatUs - before.tatUs) / pace(from).emissionUs;
      expect(lost).toBeLessThan(0.02 / pace(to).emissionUs + 0.02 / pace(from).emissionUs + level * 1e-9);
    });
    fc.assert(property, { seed: 61, numRuns: 2000 });
  });

  test.each([
    { title: 'to a tenth makes what is owed ten times as long', from: 10, to: 1, waitUs: 4_000_000 },
    { title: 'to ten times makes it a tenth as long', from: 1, to: 10, waitUs: 400_000 },
    { title: 'to unlimited forgives it', from: 1, to: Infinity, waitUs: 0 },
    { title: 'to the same changes nothing', from: 3, to: 3, waitUs: 4 * (1e6 / 3) },
  ])('$title', ({ from, to, waitUs }) => {
    const state = reRate(holding(4, pace(from), BEGIN_US), pace(from), pace(to), BEGIN_US);
    expect(state.tatUs - BEGIN_US).toBeCloseTo(waitUs, 1);
  });

  test('owes nothing where nothing was owed, even if it is late', () => {
    const late = { tatUs: BEGIN_US - 20_000, jobTatUs: BEGIN_US - 30_000 };
    expect(reRate(late, pace(1), pace(0.001), BEGIN_US)).toEqual(late);
  });

  test('goes for the jobRate as well', () => {
    const [from, to] = [pace(1, { jobEmissionUs: 1000 }), pace(1, { jobEmissionUs: 3000 })];
    expect(reRate({ tatUs: 0, jobTatUs: BEGIN_US + 500 }, from, to, BEGIN_US).jobTatUs).toBe(BEGIN_US + 1500);
  });
});

describe('the promised start', () => {
  test.each([
    {
      title: 'of the first job of an idle bucket is now',
      ahead: { cost: 0, jobs: 0, backlogged: false },
      level: 0,
      waitUs: 0,
    },
    {
      title: 'is after what the bucket still holds',
      ahead: { cost: 0, jobs: 0, backlogged: false },
      level: 1.5,
      waitUs: 750_000,
    },
    {
      title: 'is after what waits before it',
      ahead: { cost: 7, jobs: 3, backlogged: true },
      level: 1,
      waitUs: 4_000_000,
    },
    {
      title: 'is not moved by a head that is late within the slack',
      ahead: { cost: 1, jobs: 1, backlogged: true },
      level: -0.1,
      waitUs: 450_000,
    },
    {
      title: 'is moved by what it is late beyond that',
      ahead: { cost: 1, jobs: 1, backlogged: true },
      level: -9,
      waitUs: 400_000,
    },
    {
      title: 'of an idle bucket knows no lateness',
      ahead: { cost: 1, jobs: 1, backlogged: false },
      level: -9,
      waitUs: 500_000,
    },
  ])('$title', ({ ahead, level, waitUs }) => {
    const p = pace(2, { slackUs: 100_000 });
    expect(etaUs(holding(level, p, BEGIN_US), p, ahead, BEGIN_US) - BEGIN_US).toBeCloseTo(waitUs, 1);
  });
});

describe('profiles in the units of the arithmetic', () => {
  test.each([
    { rate: 2, interval: 500_000 },
    { rate: 1e-4, interval: 1e10 },
    { rate: 1e5, interval: 10 },
    { rate: Infinity, interval: 0 },
    { rate: 0, interval: Infinity },
  ])('$rate a second is a unit every $interval µs', ({ rate, interval }) => {
    expect(emissionUs(rate)).toBe(interval);
  });

  test.each([
    { interval: 10, stated: undefined, slack: 25_000 },
    { interval: 100_000, stated: undefined, slack: 50_000 },
    { interval: 1e10, stated: undefined, slack: 250_000 },
    { interval: 1e10, stated: 0, slack: 0 },
    { interval: 10, stated: 7, slack: 7 },
  ])('an interval of $interval µs has a slack of $slack µs ($stated stated)', ({ interval, stated, slack }) => {
    expect(slackUs(interval, stated)).toBe(slack);
  });

  test('a tenant of whom nothing is said is evenly spaced', () => {
    expect(DEFAULT_PROFILE.burst).toBe(1);
    expect(emissionUs(DEFAULT_PROFILE.ratePerSecond)).toBe(1_000_000);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { becomeBacklogged, EMPTY_BUCKET, type Pace, startableAtUs, startJob } from '../../src/model/bucket.js';
import { emissionUs, slackUs } from '../../src/model/profile.js';
import { departureRate } from './judges/long-run-rate.js';
import { BEGIN_US } from './simulation.js';

const YEAR_US = 365.25 * 86_400 * 1e6;
const FIFTY_YEARS_US = 50 * YEAR_US;

function pace(ratePerSecond: number, jobRatePerSecond = Infinity): Pace {
  const [perUnit, perJob] = [emissionUs(ratePerSecond), emissionUs(jobRatePerSecond)];
  return { emissionUs: perUnit, jobEmissionUs: perJob, burst: 1, slackUs: slackUs(Math.max(perUnit, perJob)) };
}

function leave(p: Pace, costs: readonly number[], lateUs: (i: number) => number, beginUs = BEGIN_US) {
  return departureRate({ pace: p, costs, lateUs, beginUs });
}

describe('under constant backlog, while a slot is free when the bucket is due, the rate is kept to 1 %', () => {
  const rate = fc.double({ min: Math.log(1e-4), max: Math.log(1e5), noNaN: true }).map(Math.exp);
  const costs = fc.array(fc.oneof(fc.constant(1), fc.double({ min: 0.1, max: 50, noNaN: true })), {
    minLength: 200,
    maxLength: 400,
  });
  const lateness = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 9 });

  test('for any rate, costs and lateness within the slack', () => {
    const property = fc.property(rate, costs, lateness, (ratePerSecond, jobs, late) => {
      const p = pace(ratePerSecond);
      const { unitsPerSecond } = leave(p, jobs, (i) => (late[i % late.length] ?? 0) * p.slackUs);
      expect(Math.abs(unitsPerSecond / ratePerSecond - 1)).toBeLessThan(0.01);
    });
    fc.assert(property, { seed: 70, numRuns: 300 });
  });

  test('for any jobRate', () => {
    const property = fc.property(rate, costs, lateness, (jobRatePerSecond, jobs, late) => {
      const p = pace(Infinity, jobRatePerSecond);
      const { jobsPerSecond } = leave(p, jobs, (i) => (late[i % late.length] ?? 0) * p.slackUs);
      expect(Math.abs(jobsPerSecond / jobRatePerSecond - 1)).toBeLessThan(0.01);
    });
    fc.assert(property, { seed: 71, numRuns: 300 });
  });

  test('and lateness beyond the slack is lost, not made up for', () => {
    const p = pace(10);
    const { unitsPerSecond } = leave(p, Array(500).fill(1), () => p.slackUs + 50_000);
    expect(unitsPerSecond).toBeCloseTo(1 / 0.15, 1);
  });
});

describe('extreme rates over long times', () => {
  test.each([
    { rate: 1e-4, beginUs: BEGIN_US },
    { rate: 1e5, beginUs: BEGIN_US },
    { rate: 1e-4, beginUs: FIFTY_YEARS_US },
    { rate: 1e5, beginUs: FIFTY_YEARS_US },
    { rate: 3e4, beginUs: FIFTY_YEARS_US },
    { rate: 7e4, beginUs: 10 * YEAR_US },
  ])('$rate a second, begun at $beginUs µs, is kept over 100,000 starts', ({ rate, beginUs }) => {
    const { unitsPerSecond } = leave(pace(rate), Array(100_000).fill(1), () => 0, beginUs);
    expect(Math.abs(unitsPerSecond / rate - 1)).toBeLessThan(0.01);
  });

  test('one unit every 10,000 s for fifty years is not a microsecond off', () => {
    const starts = Math.round(FIFTY_YEARS_US / 1e10);
    let state = becomeBacklogged(EMPTY_BUCKET, 0);
    for (let i = 0; i < starts; i += 1) state = startJob(state, pace(1e-4), 1, startableAtUs(state, pace(1e-4)));
    expect(state.tatUs).toBe(starts * 1e10);
  });

  test.each([
    { title: 'in the second year', atUs: BEGIN_US, errorUs: 0.004 },
    { title: 'after ten years', atUs: 10 * YEAR_US, errorUs: 0.032 },
    { title: 'after fifty years', atUs: FIFTY_YEARS_US, errorUs: 0.126 },
  ])('$title a start is kept to $errorUs µs', ({ atUs, errorUs }) => {
    for (let rate = 1; rate < 1e5; rate *= 1.37) {
      const p = pace(rate);
      const state = startJob(becomeBacklogged(EMPTY_BUCKET, atUs), p, 1, atUs);
      expect(Math.abs(state.tatUs - atUs - p.emissionUs)).toBeLessThan(errorUs);
    }
  });
});

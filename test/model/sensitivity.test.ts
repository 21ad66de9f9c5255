import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RULES, type Rules } from '../../src/model/scheduler/rules.js';
import { excessOverCaps } from './judges/caps.js';
import { excessOverEnvelope, excessOverJobRate } from './judges/envelope.js';
import { excessOverFairness } from './judges/fairness.js';
import { departureRate } from './judges/long-run-rate.js';
import { firstOutOfOrder } from './judges/order.js';
import { keptPromises } from './judges/promises.js';
import { BEGIN_US, simulate } from './simulation.js';
import { termsOf } from './terms-of.js';
import { oneBucket, readyBuckets } from './workloads.js';

const ALL = ['envelope', 'promises', 'fairness', 'caps', 'idle time', 'long-run rate'] as const;
type Trial = (typeof ALL)[number];

/**
 * The judges of the property tests, put to schedulers that are wrong on purpose: each must be caught, and the right one
 * must pass the very same trial.
 */
const TRIALS: Record<Trial, (rules: Rules) => fc.IPropertyWithHooks<unknown>> = {
  envelope: (rules: Rules) =>
    fc.property(oneBucket({ changes: 4, lateness: 5 }), ({ workload, epochs }) => {
      const { starts } = simulate(workload, rules);
      const terms = epochs.map(({ fromUs, stated }) => ({ fromUs, terms: termsOf(stated) }));
      const at = starts.map(({ startedAtUs = 0, cost }) => ({ atUs: startedAtUs, cost }));
      return excessOverEnvelope(at, terms) <= 0 && excessOverJobRate(at, terms) <= 0;
    }),
  promises: (rules: Rules) =>
    fc.property(oneBucket({ changes: 0, lateness: 0, limits: 'one', leastSlackUs: 10 }), ({ workload }) => {
      const trace = simulate({ ...workload, slots: 1000, serviceUs: [0] }, rules);
      return keptPromises(trace).broken === undefined;
    }),
  fairness: (rules: Rules) =>
    fc.property(readyBuckets(), ({ workload, weights }) => {
      return excessOverFairness(simulate(workload, rules).moments, weights) <= 0;
    }),
  caps: (rules: Rules) =>
    fc.property(readyBuckets(), ({ workload }) => {
      const terms = Object.fromEntries(
        Object.keys(workload.terms).map((tenant) => [tenant, termsOf({ concurrency: 2 })]),
      );
      const { moments } = simulate({ ...workload, terms, slots: 20 }, rules);
      return (
        excessOverCaps(moments, Object.fromEntries(Object.keys(terms).map((tenant) => [tenant, 2])), Infinity) <= 0
      );
    }),
  'idle time': (rules: Rules) =>
    fc.property(fc.double({ min: 0.01, max: 1000, noNaN: true }), fc.integer({ min: 2, max: 50 }), (rate, idle) => {
      const intervalUs = 1e6 / rate;
      const again = Math.ceil(idle * intervalUs);
      const arrivals = [0, again, again].map((atUs) => ({ atUs, tenant: 'a', cost: 1 }));
      const terms = { a: termsOf({ rate }) };
      const { starts } = simulate({ terms, arrivals, slots: 9, latenessUs: [0], serviceUs: [0] }, rules);
      const [, second = again, third = again] = starts.map(({ startedAtUs = 0 }) => startedAtUs);
      return third - second >= intervalUs - 1;
    }),
  'long-run rate': (rules: Rules) =>
    fc.property(fc.double({ min: 1, max: 1000, noNaN: true }), (rate) => {
      const { pace } = termsOf({ rate });
      const costs = Array(300).fill(1);
      const { unitsPerSecond } = departureRate({ pace, costs, lateUs: () => pace.slackUs, beginUs: BEGIN_US }, rules);
      return Math.abs(unitsPerSecond / rate - 1) < 0.01;
    }),
};

function passes(trial: Trial, rules: Rules): boolean {
  return !fc.check<unknown>(TRIALS[trial](rules), { seed: 80, numRuns: 300, endOnFailure: true }).failed;
}

test.each(ALL)('the right scheduler passes the trial of its %s', (trial) => {
  expect(passes(trial, RULES)).toBe(true);
});

describe('caught', () => {
  test.each<{ fault: string; trial: Trial; rules: Partial<Rules> }>([
    { fault: 'tat kept over a re-rate', trial: 'envelope', rules: { reRate: (state) => state } },
    {
      fault: 'a re-rate that forgives the level',
      trial: 'envelope',
      rules: { reRate: (_, __, ___, nowUs) => ({ tatUs: nowUs, jobTatUs: nowUs }) },
    },
    {
      fault: 'slack without bounds: every missed slot is replayed',
      trial: 'envelope',
      rules: { startJob: (state, pace, cost, nowUs) => RULES.startJob(state, { ...pace, slackUs: 1e18 }, cost, nowUs) },
    },
    {
      fault: 'a job is charged 1, whatever it costs',
      trial: 'envelope',
      rules: { startJob: (state, pace, _, nowUs) => RULES.startJob(state, pace, 1, nowUs) },
    },
    {
      fault: 'one unit more of burst',
      trial: 'envelope',
      rules: { startableAtUs: (state, pace) => RULES.startableAtUs(state, { ...pace, burst: pace.burst + 1 }) },
    },
    {
      fault: 'the jobRate is not looked at',
      trial: 'envelope',
      rules: { startableAtUs: (state, pace) => RULES.startableAtUs({ ...state, jobTatUs: 0 }, pace) },
    },
    { fault: 'credit for idle time', trial: 'idle time', rules: { becomeBacklogged: (state) => state } },
    {
      fault: 'a promise that forgets the burst',
      trial: 'promises',
      rules: { etaUs: (state, pace, ahead, nowUs) => RULES.etaUs(state, { ...pace, burst: 1 }, ahead, nowUs) },
    },
    {
      fault: 'a promise that counts jobs, not what they cost',
      trial: 'promises',
      rules: { etaUs: (state, pace, ahead, nowUs) => RULES.etaUs(state, pace, { ...ahead, cost: ahead.jobs }, nowUs) },
    },
    { fault: 'newcomers without virtual time', trial: 'fairness', rules: { startTag: (_, finish) => finish } },
    {
      fault: 'round robin without cost',
      trial: 'fairness',
      rules: { finishTag: (start, _, weight) => start + 1 / weight },
    },
    { fault: 'weights that are not looked at', trial: 'fairness', rules: { finishTag: (start, cost) => start + cost } },
    { fault: 'virtual time that stands still', trial: 'fairness', rules: { serve: (fair) => fair } },
    {
      fault: 'a cap that is checked before the count',
      trial: 'caps',
      rules: { hasSlot: (running, cap) => running <= cap },
    },
    {
      fault: 'lateness that moves the schedule',
      trial: 'long-run rate',
      rules: { startJob: (state, pace, cost, nowUs) => RULES.startJob(state, { ...pace, slackUs: 0 }, cost, nowUs) },
    },
  ])('$fault, by the trial of its $trial', ({ trial, rules }) => {
    expect(passes(trial, { ...RULES, ...rules })).toBe(false);
  });

  test('jobs that start in another order than they came', () => {
    const arrivals = [0, 1, 2].map((atUs) => ({ atUs, tenant: 'a', cost: 1 }));
    const { starts } = simulate({
      terms: { a: termsOf({ rate: 1 }) },
      arrivals,
      slots: 1,
      latenessUs: [0],
      serviceUs: [0],
    });
    expect(firstOutOfOrder(starts)).toBeUndefined();
    const [first, second, third] = starts;
    if (!first || !second || !third) throw new Error('three jobs start');
    expect(firstOutOfOrder([first, third, second])).toEqual([third, second]);
  });
});

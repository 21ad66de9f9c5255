import { describe, expect, it } from 'vitest';
import { fairness } from '../../bench/demo/fairness.js';
import { job, steadyJobs } from './jobs.js';

const ENTITLED = [
  { tenant: 'gold', weight: 4, ratePerSecond: 1 },
  { tenant: 'silver', weight: 2, ratePerSecond: Number.POSITIVE_INFINITY },
  { tenant: 'flood', weight: 1, ratePerSecond: Number.POSITIVE_INFINITY },
];
const WINDOW = { fromMs: 0, untilMs: 60_000 };

describe('fairness', () => {
  it('compares what started in the window with the lesser of rate and fair share', () => {
    const jobs = [
      ...steadyJobs('gold', 90, 1000, 500),
      ...steadyJobs('silver', 150, 500, 500),
      ...steadyJobs('flood', 90, 1000, 500),
    ];
    const { seconds, servedPerSecond, slotsBusy, tenants } = fairness(ENTITLED, jobs, WINDOW, 2);
    expect({ seconds, servedPerSecond, slotsBusy }).toEqual({ seconds: 60, servedPerSecond: 4, slotsBusy: 1 });
    expect(tenants).toEqual([
      { tenant: 'gold', servedPerSecond: 1, deservedPerSecond: 1, boundBy: 'rate', offBy: 0 },
      { tenant: 'silver', servedPerSecond: 2, deservedPerSecond: 2, boundBy: 'share', offBy: 0 },
      { tenant: 'flood', servedPerSecond: 1, deservedPerSecond: 1, boundBy: 'share', offBy: 0 },
    ]);
  });

  it('shows a flood that took the place of others', () => {
    const jobs = [
      ...steadyJobs('gold', 60, 1000, 500),
      ...steadyJobs('silver', 60, 1000, 500),
      ...steadyJobs('flood', 120, 500, 500),
    ];
    const [, silver, flood] = fairness(ENTITLED, jobs, WINDOW, 2).tenants;
    expect(silver).toMatchObject({ servedPerSecond: 1, deservedPerSecond: 2, offBy: -0.5 });
    expect(flood).toMatchObject({ servedPerSecond: 2, deservedPerSecond: 1, offBy: 1 });
  });

  it('lets the share bind where the workers are too slow for the rate', () => {
    const jobs = [
      ...steadyJobs('gold', 60, 2000, 500),
      ...steadyJobs('silver', 60, 4000, 500),
      ...steadyJobs('flood', 60, 8000, 500),
    ];
    const [gold] = fairness(ENTITLED, jobs, { fromMs: 0, untilMs: 56_000 }, 2).tenants;
    expect(gold).toMatchObject({ boundBy: 'share', servedPerSecond: 0.5, offBy: 0 });
  });

  it('judges by what the workers could do at the time, when they become slower', () => {
    const later = (jobs: ReturnType<typeof steadyJobs>) =>
      jobs.map((one) => ({ ...one, startedAtMs: (one.startedAtMs ?? 0) + 50_000 }));
    const jobs = [
      ...[...steadyJobs('gold', 50, 1000, 500), ...later(steadyJobs('gold', 20, 2500, 500))],
      ...[...steadyJobs('silver', 100, 500, 500), ...later(steadyJobs('silver', 10, 5000, 500))],
      ...[...steadyJobs('flood', 50, 1000, 500), ...later(steadyJobs('flood', 5, 10_000, 500))],
    ];
    const [gold] = fairness(ENTITLED, jobs, { fromMs: 0, untilMs: 100_000 }, 2).tenants;
    expect(gold).toMatchObject({ servedPerSecond: 0.7, boundBy: 'share' });
    expect(Math.abs(gold?.offBy ?? 1)).toBeLessThan(0.03);
  });

  it('counts cost and not jobs, and only what started within the window', () => {
    const jobs = [{ ...job('silver', 0, 0), cost: 30 }, job('silver', 0, 60_000), job('silver', 0, null)];
    expect(fairness(ENTITLED, jobs, WINDOW, 2).tenants[1]?.servedPerSecond).toBe(0.5);
  });

  it('counts as busy what ran within the window, up to its end where no end is known', () => {
    const jobs = [job('silver', 0, 1000, 20_000), job('silver', 0, 40_000, null), job('silver', 0, 59_000, 90_000)];
    const window = { fromMs: 10_000, untilMs: 60_000 };
    expect(fairness(ENTITLED, jobs, window, 1).slotsBusy).toBeCloseTo((10_000 + 20_000 + 1000) / 50_000, 10);
  });
});

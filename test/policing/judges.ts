import type { Limit } from '../../src/model/limit.js';

/** A call that was let through. */
export interface Passed {
  readonly atUs: number;
  readonly cost: number;
}

/**
 * By how many units the calls that passed exceed the law of their limit, at worst; 0 or less when it is kept. `passed` is in
 * the order of time. Knows nothing of how a policer counts.
 */
export function excessOf(limit: Limit, passed: readonly Passed[]): number {
  switch (limit.algorithm) {
    case 'token-bucket':
      return excessOfBucket(limit.ratePerSecond, limit.burst, passed);
    case 'sliding-window-log':
      return excessOfWindows(limit.limit, limit.windowMs * 1000, passed);
    case 'sliding-window-counter':
      return excessOfCounter(limit.limit, limit.windowMs * 1000, passed);
  }
}

/** In no window of t seconds more than burst + rate · t. The worst window begins and ends with a call. */
export function excessOfBucket(ratePerSecond: number, burst: number, passed: readonly Passed[]): number {
  let worst = Number.NEGATIVE_INFINITY;
  for (const [i, first] of passed.entries()) {
    let sum = 0;
    for (const { atUs, cost } of passed.slice(i)) {
      sum += cost;
      worst = Math.max(worst, sum - burst - (ratePerSecond * (atUs - first.atUs)) / 1e6);
    }
  }
  return worst;
}

/** In no window of `windowUs`, one end of it open, more than `quota`. */
export function excessOfWindows(quota: number, windowUs: number, passed: readonly Passed[]): number {
  let worst = Number.NEGATIVE_INFINITY;
  for (const [i, first] of passed.entries()) {
    const sum = passed.slice(i).reduce((all, { atUs, cost }) => (atUs - first.atUs < windowUs ? all + cost : all), 0);
    worst = Math.max(worst, sum - quota);
  }
  return worst;
}

/**
 * What the counter promises: no whole window of the clock takes more than the quota, so no window at all more than twice
 * that; and over a long time the mean is at most the quota per window, beside one quota at each end.
 */
function excessOfCounter(quota: number, windowUs: number, passed: readonly Passed[]): number {
  const byWindow = new Map<number, number>();
  for (const { atUs, cost } of passed) {
    const window = Math.floor(atUs / windowUs);
    byWindow.set(window, (byWindow.get(window) ?? 0) + cost);
  }
  return Math.max(excessOfWindows(2 * quota, windowUs, passed), ...[...byWindow.values()].map((sum) => sum - quota));
}

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

/** The same for the windows that begin at one instant; `passed` since then. */
export function excessSince(beginUs: number, ratePerSecond: number, burst: number, passed: readonly Passed[]): number {
  let [sum, worst] = [0, -burst];
  for (const { atUs, cost } of passed) {
    sum += cost;
    worst = Math.max(worst, sum - burst - (ratePerSecond * (atUs - beginUs)) / 1e6);
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
 * With every call: what passed in the present window of the clock, and of the window before the part that a window ending
 * now still covers, is at most the quota.
 */
export function excessOfCounter(quota: number, windowUs: number, passed: readonly Passed[]): number {
  let worst = Number.NEGATIVE_INFINITY;
  let [index, present, before] = [Number.NEGATIVE_INFINITY, 0, 0];
  for (const { atUs, cost } of passed) {
    const now = Math.floor(atUs / windowUs);
    if (now > index) [index, before, present] = [now, now === index + 1 ? present : 0, 0];
    present += cost;
    worst = Math.max(worst, before * (1 - (atUs / windowUs - now)) + present - quota);
  }
  return worst;
}

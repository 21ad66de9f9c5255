/**
 * What a policer holds callers to. All quantities are plain numbers with their unit in the name.
 */

/** How the calls of a limit are counted: as the level of a bucket that leaks, one by one, or in two counters. */
export type LimitAlgorithm = 'token-bucket' | 'sliding-window-log' | 'sliding-window-counter';

interface NamedLimit {
  /** Its name in the `RateLimit` headers; different among the limits of one policy. */
  readonly name: string;
  /** Whether each key has one of its own, or all keys of the policy share one. */
  readonly per: 'key' | 'policy';
}

/**
 * `burst` units at once, and `ratePerSecond` in the long run: a call of cost c conforms iff level + c ≤ burst. The level
 * leaks continuously. This is the leaky bucket as a meter (GCRA: ATM Forum TM 4.0, ITU-T I.371).
 */
export interface RateLimit extends NamedLimit {
  readonly algorithm: 'token-bucket';
  /** 1e-6 to 1e6. */
  readonly ratePerSecond: number;
  /** At least the greatest cost of a call. */
  readonly burst: number;
}

/** `limit` units in every window of `windowMs`: exact with the log, approximate with the counter. */
export interface WindowLimit extends NamedLimit {
  readonly algorithm: 'sliding-window-log' | 'sliding-window-counter';
  readonly limit: number;
  /** At least 1. */
  readonly windowMs: number;
}

export type Limit = RateLimit | WindowLimit;

/** Most units that can pass at once; a call that costs more can never pass. */
export function quotaOf(limit: Limit): number {
  return limit.algorithm === 'token-bucket' ? limit.burst : limit.limit;
}

/** Milliseconds in which an untouched limit is whole again. */
export function windowMsOf(limit: Limit): number {
  return limit.algorithm === 'token-bucket' ? (limit.burst / limit.ratePerSecond) * 1000 : limit.windowMs;
}

/** What is one process's `share` of a limit, above 0 and at most 1: a bucket, in which there is room for one unit at least. */
export function shareOf(limit: Limit, share: number): Limit {
  if (share === 1) return limit;
  const whole = asRateLimit(limit);
  const burst = Math.max(Math.min(1, whole.burst), whole.burst * share);
  return { ...whole, ratePerSecond: whole.ratePerSecond * share, burst };
}

/** The bucket that comes nearest to a limit: the same units in the long run, the same at once. */
export function asRateLimit(limit: Limit): RateLimit {
  if (limit.algorithm === 'token-bucket') return limit;
  const { name, per, limit: burst, windowMs } = limit;
  return { algorithm: 'token-bucket', name, per, burst, ratePerSecond: burst / (windowMs / 1000) };
}

import type { PolicyConfig, PolicyPlace } from '../../dist/src/config/policy-config.js';
import type { Limit, LimitAlgorithm, RateLimit } from '../../dist/src/model/limit.js';

/** What all that are compared are told to hold callers to: so many calls at once and in every window. */
export interface Quota {
  readonly calls: number;
  readonly windowMs: number;
}

/** One that nobody reaches while it is measured, and one that everybody is soon above. */
export const QUOTAS = {
  wide: { calls: 1e9, windowMs: 1_000_000 },
  tight: { calls: 10, windowMs: 1_000_000 },
} as const satisfies Record<string, Quota>;

/** A bucket of that many calls which refills in the window. */
export function bucketOf({ calls, windowMs }: Quota): RateLimit {
  return { algorithm: 'token-bucket', name: 'a', per: 'key', burst: calls, ratePerSecond: calls / (windowMs / 1000) };
}

/** The quota as an algorithm has it. */
export function limitOf(algorithm: LimitAlgorithm, quota: Quota): Limit {
  if (algorithm === 'token-bucket') return bucketOf(quota);
  return { algorithm, name: 'a', per: 'key', limit: quota.calls, windowMs: quota.windowMs };
}

/** A policy of one limit. Its deadline is long, so that on a busy machine, too, the limit decides and not the outage. */
export function policyOf(place: PolicyPlace, limit: Limit): PolicyConfig {
  return {
    ...{ name: 'api', place, limits: [limit], byTier: new Map(), onOutage: 'closed', enforce: true, retryJitter: 0 },
    ...{ deadlineMs: 5000, maxKeys: 100_000, share: 1, leaseMs: 1000 },
  };
}

import type { PolicyConfig } from '../../src/config/policy-config.js';
import type { Limit, RateLimit } from '../../src/model/limit.js';

/** A bucket of `burst` that takes an hour to fill again, unless given a rate. */
export function bucket(burst: number, options: Partial<RateLimit> = {}): RateLimit {
  return { algorithm: 'token-bucket', name: 'burst', per: 'key', burst, ratePerSecond: burst / 3600, ...options };
}

/** A policy in the process, with nothing out of the ordinary unless given. */
export function policy(name: string, limits: readonly Limit[], options: Partial<PolicyConfig> = {}): PolicyConfig {
  return {
    name,
    place: 'local',
    limits,
    byTier: new Map(),
    onOutage: 'open',
    enforce: true,
    retryJitter: 0,
    deadlineMs: 30,
    maxKeys: 1000,
    share: 1,
    leaseMs: 1000,
    ...options,
  };
}

/** Policies by their names. */
export function named(...policies: readonly PolicyConfig[]): ReadonlyMap<string, PolicyConfig> {
  return new Map(policies.map((each) => [each.name, each]));
}

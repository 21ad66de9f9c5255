import type { Limit } from '../model/limit.js';

/** Where the limits of a policy are kept: in Redis, in this process alone, or leased from Redis by every process. */
export type PolicyPlace = 'redis' | 'local' | 'leased';

/** The tier of a caller whom no tenant's key has proven. */
export const ANONYMOUS_TIER = 'anonymous';

/** A policy: what callers are held to, and what happens when nobody can say. */
export interface PolicyConfig {
  readonly name: string;
  readonly place: PolicyPlace;
  /** For callers whose tier is not in `byTier`. Empty: unlimited. */
  readonly limits: readonly Limit[];
  /** By tier, {@link ANONYMOUS_TIER} among them; each in place of `limits`. */
  readonly byTier: ReadonlyMap<string, readonly Limit[]>;
  /** While Redis is away: let pass, refuse with 503, or decide in this process by the same limits. */
  readonly onOutage: 'open' | 'closed' | 'local';
  /** False: decides and counts, but lets everything pass. */
  readonly enforce: boolean;
  /** Retry-After is spread evenly over this fraction of itself, upwards: 0 to 1. */
  readonly retryJitter: number;
  /** How long an answer of Redis is waited for. */
  readonly deadlineMs: number;
  /** Place `local`: keys that are remembered at most; the one idle for longest goes first. */
  readonly maxKeys: number;
  /** Place `local`: the part of every limit that is this process's, above 0 and at most 1. */
  readonly share: number;
  /** Place `leased`: how long units taken in advance may be kept. */
  readonly leaseMs: number;
}

/** What requests to one kind of route are held to. */
export interface RouteConfig {
  /** `*` for all. */
  readonly method: string;
  /** A pattern: `/users/:id`, `/files/*`. The most specific one that matches counts. */
  readonly path: string;
  readonly policy: string;
  readonly cost: number;
}

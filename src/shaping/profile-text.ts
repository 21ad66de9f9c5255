import { createHash } from 'node:crypto';
import { emissionUs, type Profile, slackUs } from '../model/profile.js';
import type { Pace } from '../model/bucket.js';

/** Stands for "unlimited" in Redis, where every limit is a finite number. */
const UNLIMITED = 1e15;

/** The arithmetic's view of a profile; `statedSlackUs` is the type's own slack, if it states one. */
export function paceOf(profile: Profile, statedSlackUs?: number): Pace {
  const perUnit = profile.ratePerSecond === 0 ? 0 : emissionUs(profile.ratePerSecond);
  const perJob = emissionUs(profile.jobRatePerSecond);
  return {
    emissionUs: perUnit,
    jobEmissionUs: perJob,
    burst: profile.burst,
    slackUs: slackUs(Math.max(perUnit, perJob), statedSlackUs),
  };
}

/**
 * A profile as the scripts read it: `rev T jT burst slack weight conc depth maxb maxw paused` (lua/lib/bucket.lua), where
 * `rev` is made from the rest, so that equal profiles are equal everywhere.
 */
export function profileText(profile: Profile, statedSlackUs?: number): string {
  const pace = paceOf(profile, statedSlackUs);
  const paused = profile.ratePerSecond === 0;
  const rest = [
    paused ? -1 : pace.emissionUs,
    pace.jobEmissionUs,
    pace.burst,
    pace.slackUs,
    profile.weight,
    ...[profile.concurrency, profile.depth, profile.maxBytes, profile.maxWaitMs].map((n) => Math.min(n, UNLIMITED)),
    paused ? 1 : 0,
  ].join(' ');
  return `${createHash('sha256').update(rest).digest('base64url').slice(0, 12)} ${rest}`;
}

/** A limit as the scripts read it. */
export function finite(limit: number): number {
  return Math.min(limit, UNLIMITED);
}

import type { Pace } from '../model/bucket.js';
import { emissionUs, type Profile, slackUs } from '../model/profile.js';

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
 * A profile as the scripts read it (lua/lib/bucket.lua): the doubles T, jT, burst, slack, weight, conc, pace and then
 * depth, maxb, maxw, little-endian; pace is 1 while a rate is 0, and 2 more where jobs are policed. Equal profiles are equal bytes.
 */
export function profileBytes(profile: Profile, statedSlackUs?: number): Buffer {
  const pace = paceOf(profile, statedSlackUs);
  const paused = profile.ratePerSecond === 0 || profile.jobRatePerSecond === 0;
  const numbers = [
    orKeep(profile.ratePerSecond, pace.emissionUs),
    orKeep(profile.jobRatePerSecond, pace.jobEmissionUs),
    pace.burst,
    pace.slackUs,
    profile.weight,
    finite(profile.concurrency),
    (paused ? 1 : 0) + (profile.mode === 'police' ? 2 : 0),
    finite(profile.depth),
    finite(profile.maxBytes),
    finite(profile.maxWaitMs),
  ];
  const bytes = Buffer.allocUnsafe(PROFILE_BYTES);
  let at = 0;
  for (const number of numbers) at = bytes.writeDoubleLE(number, at);
  return bytes;
}

/** Length of {@link profileBytes}; a bucket's stored state begins with them. */
export const PROFILE_BYTES = 80;

/** In place of an interval: what is stored stays. */
const KEEP = -1;

/** A rate of 0 has no interval: the bucket pauses, and its level is kept by the interval it had. */
function orKeep(ratePerSecond: number, intervalUs: number): number {
  return ratePerSecond === 0 ? KEEP : intervalUs;
}

/** A limit as the scripts read it. */
export function finite(limit: number): number {
  return Math.min(limit, UNLIMITED);
}

import type { SurveyedBucket } from '../../shaping/bucket-survey.js';
import { type Crowd, deservedOf, isReady } from './crowd.js';

/** What may be wrong with a bucket; the gravest first. */
export const TROUBLES = ['starved', 'full', 'refusing', 'noisy', 'held', 'paused'] as const;

/**
 * | trouble | when |
 * |---|---|
 * | `starved` | it is ready, and received less than 0.7 of what it deserved, by more than fair queuing may be off: two jobs |
 * | `full` | waiting and delayed jobs take 90 % of its depth or more |
 * | `refusing` | jobs of it were turned away in the last minute |
 * | `noisy` | workers are scarce and somebody else is ready; and it is ready and received more than 1.5 of what it deserved, by more than two jobs, or ten times as much waits in it, or was turned away in the last minute, as waits in the median bucket |
 * | `held` | its upstream is busy |
 * | `paused` | nothing of it starts, by hand or because a rate of its own is 0 |
 */
export type Trouble = (typeof TROUBLES)[number];

const FULL_FROM = 0.9;
const STARVED_BELOW = 0.7;
const NOISY_ABOVE = 1.5;
const NOISY_TIMES_MEDIAN = 10;
/** Below this share of the type, nobody is costly to others. */
const LEAST_SHARE = 0.02;
/** A median of fewer tells nothing. */
const LEAST_BACKLOGGED = 3;
/** Of the shares that are compared, in seconds. */
const FADE_S = 60;

/** What is wrong with a bucket among others, the gravest first. */
export function troublesOf(bucket: SurveyedBucket, refusedPerMinute: number, crowd: Crowd): readonly Trouble[] {
  const found: Readonly<Record<Trouble, boolean>> = {
    starved: isStarved(bucket),
    full: bucket.waiting + bucket.delayed >= FULL_FROM * bucket.profile.depth,
    refusing: refusedPerMinute > 0,
    noisy: isNoisy(bucket, refusedPerMinute, crowd),
    held: bucket.heldForMs > 0,
    paused: bucket.paused,
  };
  return TROUBLES.filter((trouble) => found[trouble]);
}

function isStarved(bucket: SurveyedBucket): boolean {
  const { servedPerSecond: received, deservedPerSecond: deserved } = bucket;
  return isReady(bucket) && received < STARVED_BELOW * deserved && isMoreThanOff(bucket, deserved - received);
}

/** Whether so much a second is more than what fair queuing may be off: two jobs of the time that is compared. */
function isMoreThanOff({ waiting, waitingCost }: SurveyedBucket, perSecond: number): boolean {
  const costOfJob = Math.max(1, waitingCost / Math.max(1, waiting));
  return perSecond * FADE_S > 2 * costOfJob;
}

function isNoisy(bucket: SurveyedBucket, refusedPerMinute: number, crowd: Crowd): boolean {
  const others = crowd.ready - (isReady(bucket) ? 1 : 0);
  if (!crowd.isScarce || others === 0) return false;
  const { servedPerSecond: received, waiting } = bucket;
  const deserved = deservedOf(bucket, crowd);
  const takesMore =
    received > NOISY_ABOVE * deserved &&
    received >= LEAST_SHARE * crowd.servedPerSecond &&
    isMoreThanOff(bucket, received - deserved);
  const brought = waiting + refusedPerMinute;
  const bringsMore = crowd.backlogged >= LEAST_BACKLOGGED && brought >= NOISY_TIMES_MEDIAN * crowd.medianBacklog;
  return takesMore || bringsMore;
}

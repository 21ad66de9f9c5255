/**
 * The leaky bucket as a meter, kept as one number per limit: the theoretical arrival time (`tat`), the instant at which
 * the bucket will be empty. GCRA as in ITU-T I.371 and ATM Forum TM 4.0, used here to space starts instead of refusing.
 *
 * Instants are microseconds since 2025-01-01 by one clock; they come in as arguments. The level is `(tat − now) / T`.
 * A backlogged bucket may start a job when its level is at most `burst − 1`, whatever the job costs; the start raises
 * the level by the cost. So in any window of t seconds the cost that starts is at most
 * `burst − 1 + c_max + rate · (t + slack)`.
 */
export interface BucketState {
  /** When the bucket will be empty, by cost. */
  readonly tatUs: number;
  /** When the bucket will be empty, by jobs. */
  readonly jobTatUs: number;
}

/** What the arithmetic needs of a profile. An emission interval of 0 means unlimited. */
export interface Pace {
  /** Microseconds per cost unit. */
  readonly emissionUs: number;
  /** Microseconds per job; jobs are evenly spaced. */
  readonly jobEmissionUs: number;
  readonly burst: number;
  /** Lateness within which the bucket keeps its place in the ideal schedule. */
  readonly slackUs: number;
}

/** A bucket that never started anything. */
export const EMPTY_BUCKET: BucketState = { tatUs: 0, jobTatUs: 0 };

/** Cost units in the bucket at `nowUs`. */
export function levelAt(state: BucketState, pace: Pace, nowUs: number): number {
  return pace.emissionUs === 0 ? 0 : Math.max(0, state.tatUs - nowUs) / pace.emissionUs;
}

/** The first job after an idle time has come: what was not used is not saved up. */
export function becomeBacklogged(state: BucketState, nowUs: number): BucketState {
  return { tatUs: Math.max(state.tatUs, nowUs), jobTatUs: Math.max(state.jobTatUs, nowUs) };
}

/** The instant from which a backlogged bucket may start its next job, whatever that costs. */
export function startableAtUs(state: BucketState, pace: Pace): number {
  return Math.max(state.tatUs - (pace.burst - 1) * pace.emissionUs, state.jobTatUs);
}

/**
 * A job of `cost` starts at `nowUs`. A start late by no more than the slack keeps its place in the ideal schedule;
 * slots missed by more than that are never replayed.
 */
export function startJob(state: BucketState, pace: Pace, cost: number, nowUs: number): BucketState {
  const floorUs = nowUs - pace.slackUs;
  return {
    tatUs: Math.max(state.tatUs, floorUs) + cost * pace.emissionUs,
    jobTatUs: Math.max(state.jobTatUs, floorUs) + pace.jobEmissionUs,
  };
}

/** The rate changed: the level stays what it is, so neither a burst nor a stall follows. */
export function reRate(state: BucketState, from: Pace, to: Pace, nowUs: number): BucketState {
  return {
    tatUs: rescale(state.tatUs, from.emissionUs, to.emissionUs, nowUs),
    jobTatUs: rescale(state.jobTatUs, from.jobEmissionUs, to.jobEmissionUs, nowUs),
  };
}

function rescale(tatUs: number, fromUs: number, toUs: number, nowUs: number): number {
  if (fromUs === toUs || tatUs <= nowUs || fromUs === 0) return tatUs;
  return nowUs + ((tatUs - nowUs) * toUs) / fromUs;
}

/** What waits before a job, in its own bucket. */
export interface Ahead {
  readonly cost: number;
  readonly jobs: number;
  /** Whether anything waits in the bucket, before the job or behind it. */
  readonly backlogged: boolean;
}

/**
 * When a job behind `ahead` starts, if a slot is free whenever its bucket may start one. A backlogged bucket whose head is
 * late by no more than the slack keeps its place in the ideal schedule, so that lateness does not move the jobs behind.
 */
export function etaUs(state: BucketState, pace: Pace, ahead: Ahead, nowUs: number): number {
  const floorUs = ahead.backlogged ? nowUs - pace.slackUs : nowUs;
  const byCostUs = Math.max(state.tatUs, floorUs) + (ahead.cost - (pace.burst - 1)) * pace.emissionUs;
  const byJobsUs = Math.max(state.jobTatUs, floorUs) + ahead.jobs * pace.jobEmissionUs;
  return Math.max(nowUs, byCostUs, byJobsUs);
}

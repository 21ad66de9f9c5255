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

/**
 * How long it is, in microseconds, until a policed bucket lets a job of `cost` pass, if nobody else takes anything; 0 when
 * it does now. A job conforms when level + cost ≤ burst; by jobs likewise, of which as many may pass at once as the burst
 * has units. A cost above the burst never conforms: the caller has looked.
 */
export function untilConformingUs(state: BucketState, pace: Pace, cost: number, nowUs: number): number {
  const byCostUs = waitToConformUs(state.tatUs, pace.emissionUs, pace.burst, cost, nowUs);
  return Math.max(byCostUs, waitToConformUs(state.jobTatUs, pace.jobEmissionUs, pace.burst, 1, nowUs));
}

function waitToConformUs(tatUs: number, emissionUs: number, burst: number, cost: number, nowUs: number): number {
  if (emissionUs === 0) return 0;
  const waitUs = Math.max(tatUs, nowUs) - nowUs + (cost - burst) * emissionUs;
  return waitUs <= roundingUs(emissionUs, burst, cost) ? 0 : waitUs;
}

/**
 * By how much a sum of odd intervals may miss: what a double rounds off for each unit of a full bucket, never more than a
 * thousandth of a unit. What it lets through is owed by the next job, so it does not add up.
 */
function roundingUs(emissionUs: number, burst: number, cost: number): number {
  return Math.max(0.05, Math.min(0.005 * burst, 1e-3 * Math.min(1, cost) * emissionUs));
}

/** A job of `cost` is stored in a policed bucket at `nowUs`, and pays at once. */
export function chargeJob(state: BucketState, pace: Pace, cost: number, nowUs: number): BucketState {
  return {
    tatUs: Math.max(state.tatUs, nowUs) + cost * pace.emissionUs,
    jobTatUs: Math.max(state.jobTatUs, nowUs) + pace.jobEmissionUs,
  };
}

/**
 * A job that paid at the door ends without having started: its charge comes out again, but nothing that has leaked since.
 *
 * @param charged What {@link chargeJob} answered for the job.
 */
export function unchargeJob(
  state: BucketState,
  pace: Pace,
  job: { readonly cost: number; readonly charged: BucketState },
  nowUs: number,
): BucketState {
  const { tatUs, jobTatUs } = state;
  return {
    tatUs: tatUs - leftOfCharge(job.cost * pace.emissionUs, job.charged.tatUs, tatUs, nowUs),
    jobTatUs: jobTatUs - leftOfCharge(pace.jobEmissionUs, job.charged.jobTatUs, jobTatUs, nowUs),
  };
}

/**
 * What of a charge of `amount` can come out of a book again: nothing that has leaked since, which is all that is not ahead
 * of `floor`. Without the charge, what came before it had been gone by then.
 *
 * @param mark Where the charge left the book.
 * @param at Where the book is now.
 */
export function leftOfCharge(amount: number, mark: number, at: number, floor: number): number {
  return Math.max(0, Math.min(amount, mark - floor, at - floor));
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

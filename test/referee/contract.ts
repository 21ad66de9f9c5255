import type { StatedTerms } from './trace.js';

/** What a type promises as a whole. */
export interface TypeContract {
  readonly type: string;
  /** The type's own rate, burst and concurrency, over all tenants. */
  readonly capacity?: StatedTerms;
  /** Slots of all its workers together; absent: never scarce. */
  readonly slots?: number;
  /** True where the type is spread over several shards: fairness is then to within a job more for each of its slots. */
  readonly spread?: boolean;
  /** Lateness within which a bucket keeps its place; absent: half an emission interval, at least 25 and at most 250. */
  readonly slackMs?: number;
}

/** What one (type, tenant) pair is entitled to. */
export interface BucketContract extends StatedTerms {
  readonly type: string;
  readonly tenant: string;
}

/** What the system under test was configured to do, as plain JSON. */
export interface Contract {
  readonly types: readonly TypeContract[];
  readonly buckets: readonly BucketContract[];
  /** The terms of every bucket that is not listed. Absent: a bucket that is not listed is an error of the test. */
  readonly otherwise?: StatedTerms;
  /** True when the API and Redis read different wall clocks, so that the `Date` header proves nothing. */
  readonly separateClocks?: boolean;
}

/** How far a measurement may be off before it is held against the system. Stated in every verdict. */
export interface Tolerances {
  /** A dispatch precedes its arrival at the referee, and an end its settling, by no more than this. */
  readonly arrivalMs: number;
  /** How much earlier than promised a start may be seen. */
  readonly earlyMs: number;
  /** How much later than promised a start may be seen. */
  readonly lateMs: number;
  /** The long-run rate may fall short by this part of it. */
  readonly shortfall: number;
}

export const DEFAULT_TOLERANCES: Tolerances = { arrivalMs: 25, earlyMs: 25, lateMs: 50, shortfall: 0.01 };

/** Terms with every default filled in; `Infinity` means no limit. */
export interface Terms {
  readonly ratePerSecond: number;
  readonly burst: number;
  readonly jobRatePerSecond: number;
  readonly depth: number;
  readonly maxBytes: number;
  readonly concurrency: number;
  readonly weight: number;
  /** Lateness within which the bucket keeps its place. */
  readonly slackMs: number;
}

const UNLIMITED: Terms = {
  ratePerSecond: Infinity,
  burst: 1,
  jobRatePerSecond: Infinity,
  depth: Infinity,
  maxBytes: Infinity,
  concurrency: Infinity,
  weight: 1,
  slackMs: 25,
};

/** `stated` laid over `base`: absent terms keep the base's, `null` lifts the limit. `statedSlackMs` is the type's own slack. */
export function termsFrom(stated: StatedTerms, statedSlackMs: number | undefined, base: Terms = UNLIMITED): Terms {
  const limit = (term: number | null | undefined, inherited: number) =>
    term === undefined ? inherited : (term ?? Infinity);
  const ratePerSecond = limit(stated.ratePerSecond, base.ratePerSecond);
  const jobRatePerSecond = limit(stated.jobRatePerSecond, base.jobRatePerSecond);
  return {
    ratePerSecond,
    burst: stated.burst ?? base.burst,
    jobRatePerSecond,
    depth: limit(stated.depth, base.depth),
    maxBytes: limit(stated.maxBytes, base.maxBytes),
    concurrency: limit(stated.concurrency, base.concurrency),
    weight: stated.weight ?? base.weight,
    slackMs: statedSlackMs ?? slackMs(Math.max(intervalMs(ratePerSecond), intervalMs(jobRatePerSecond))),
  };
}

/** The more generous of two sets of terms, field by field; the weight is the first one's. */
export function moreGenerous(one: Terms, other: Terms): Terms {
  return {
    ratePerSecond: Math.max(one.ratePerSecond, other.ratePerSecond),
    burst: Math.max(one.burst, other.burst),
    jobRatePerSecond: Math.max(one.jobRatePerSecond, other.jobRatePerSecond),
    depth: Math.max(one.depth, other.depth),
    maxBytes: Math.max(one.maxBytes, other.maxBytes),
    concurrency: Math.max(one.concurrency, other.concurrency),
    weight: one.weight,
    slackMs: Math.max(one.slackMs, other.slackMs),
  };
}

/** Milliseconds between two at this rate; 0 when unlimited, `Infinity` when nothing leaves. */
export function intervalMs(ratePerSecond: number): number {
  return 1000 / ratePerSecond;
}

/** Half the longer of a bucket's emission intervals, at least 25 ms and at most 250 ms. */
function slackMs(longestIntervalMs: number): number {
  return Math.min(250, Math.max(25, longestIntervalMs / 2));
}

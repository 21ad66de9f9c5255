import type { SurveyedBucket } from '../../shaping/bucket-survey.js';

/** What is known of all buckets of a type, by which one of them is judged. */
export interface Crowd {
  /** Units a second that all were served, over about the last minute. */
  readonly servedPerSecond: number;
  /** Whether something has been ready for a while and nobody had a slot for it. */
  readonly isScarce: boolean;
  /** Units a second, for each unit of weight, that were there for whoever always competed. */
  readonly fairPerWeight: number;
  /** Buckets that may start something now. */
  readonly ready: number;
  /** Buckets in which something waits, and how much waits in one of them: the median. */
  readonly backlogged: number;
  readonly medianBacklog: number;
  /** Jain's index; `null` while there is nothing to compare. */
  readonly jain: number | null;
}

type Judged = Pick<
  SurveyedBucket,
  'waiting' | 'nextStartMs' | 'paused' | 'heldForMs' | 'servedPerSecond' | 'deservedPerSecond' | 'profile'
>;

/** A crowd from what was read of its buckets, and of its type. */
export function crowdOf(
  type: { readonly servedPerSecond: number; readonly scarceForMs: number | null },
  buckets: readonly Judged[],
): Crowd {
  const backlogs = buckets.filter(({ waiting }) => waiting > 0);
  const competition = { isScarce: type.scarceForMs !== null, fairPerWeight: fairPerWeight(buckets) };
  return {
    servedPerSecond: type.servedPerSecond,
    ...competition,
    ready: buckets.filter(isReady).length,
    backlogged: backlogs.length,
    medianBacklog: median(backlogs.map(({ waiting }) => waiting)),
    jain: jainIndex(backlogs.flatMap((each) => satisfaction(each, competition))),
  };
}

/** Whether a bucket may start something now, if it had a slot. */
export function isReady({ waiting, nextStartMs, paused, heldForMs }: Judged): boolean {
  return waiting > 0 && nextStartMs === 0 && !paused && heldForMs === 0;
}

/**
 * Units a second that a bucket deserved. Its share is counted while it competes; but one that asks for less than was there
 * for whoever always competes, and so competes only now and then, deserves all that it asked for, and that is what it
 * received. So does everybody where workers are enough.
 */
export function deservedOf(
  bucket: Judged,
  { isScarce, fairPerWeight }: Pick<Crowd, 'isScarce' | 'fairPerWeight'>,
): number {
  const { servedPerSecond, deservedPerSecond, profile } = bucket;
  const modest = isScarce && isReady(bucket) ? profile.weight * fairPerWeight : Infinity;
  return Math.max(deservedPerSecond, Math.min(servedPerSecond, modest));
}

/** What is deserved for a unit of weight while one competes is the same for all: who always did has most of it. */
function fairPerWeight(buckets: readonly Judged[]): number {
  return buckets.reduce(
    (most, { deservedPerSecond, profile }) => Math.max(most, deservedPerSecond / profile.weight),
    0,
  );
}

/** What it received of that; nothing of one that deserved nothing, which cannot have too little. */
function satisfaction(bucket: Judged, competition: Pick<Crowd, 'isScarce' | 'fairPerWeight'>): number[] {
  const deserved = deservedOf(bucket, competition);
  return deserved > 0 ? [bucket.servedPerSecond / deserved] : [];
}

/**
 * How evenly something is given: 1 to all alike, 1/n to one alone (R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of
 * Fairness, 1984). `null` for fewer than two, and where nobody was given anything.
 */
export function jainIndex(shares: readonly number[]): number | null {
  const sum = shares.reduce((total, share) => total + share, 0);
  const squares = shares.reduce((total, share) => total + share * share, 0);
  return shares.length < 2 || squares === 0 ? null : (sum * sum) / (shares.length * squares);
}

/** 0 of nothing. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const [below = 0, above = 0] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return (below + above) / 2;
}

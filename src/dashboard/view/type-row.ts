import type { SurveyedBucket } from '../../shaping/bucket-survey.js';
import type { TypeView } from '../../shaping/shaping.js';
import { type BucketRow, limitOrNull, rounded } from './bucket-row.js';
import type { Crowd } from './crowd.js';

/** A type as the page shows it. Rates are cost units a second. */
export interface TypeRow {
  readonly type: string;
  readonly inPerSecond: number;
  readonly outPerSecond: number;
  /** `null`: unlimited. */
  readonly capacityPerSecond: number | null;
  readonly running: number;
  readonly concurrency: number | null;
  /** Slots in use. */
  readonly busy: number;
  readonly waiting: number;
  readonly delayed: number;
  /** For how long the job has waited that waits longest; `null` where none waits. */
  readonly oldestMs: number | null;
  /** By how much the latest of the next starts is late; `null` where nothing is ready. */
  readonly slipMs: number | null;
  readonly readyBuckets: number;
  readonly backloggedBuckets: number;
  /** For how long workers have been too few; 0 while they are enough. */
  readonly scarceForMs: number;
  readonly paused: boolean;
  /** Whether starts are late by more than a second, or workers have been too few for 5 s. */
  readonly behind: boolean;
  readonly jain: number | null;
}

/** Of starts that may still be thought punctual, in milliseconds. */
const BEHIND_FROM_MS = 1000;
/** For so long workers may be too few. */
const SCARCE_FROM_MS = 5000;

export interface TypeParts {
  readonly rates: { readonly in: number; readonly out: number };
  readonly buckets: readonly SurveyedBucket[];
  readonly crowd: Crowd;
  readonly atMs: number;
}

/** A type as it was found at `atMs` (since 1970), with what is known of its buckets. */
export function typeRow(view: TypeView, { rates, buckets, crowd, atMs }: TypeParts): TypeRow {
  const { ratePerSecond, concurrency } = view.capacity;
  const slipMs = view.readyBuckets === 0 ? null : Math.max(0, ...lateness(buckets));
  return {
    type: view.type,
    inPerSecond: rounded(rates.in, 2),
    outPerSecond: rounded(rates.out, 2),
    capacityPerSecond: limitOrNull(ratePerSecond),
    running: view.running,
    concurrency: limitOrNull(concurrency),
    busy: view.running,
    waiting: sum(buckets.map(({ waiting }) => waiting)),
    delayed: sum(buckets.map(({ delayed }) => delayed)),
    oldestMs: greatest(buckets.map((bucket) => longestAt(bucket, atMs))),
    slipMs,
    readyBuckets: view.readyBuckets,
    backloggedBuckets: view.backloggedBuckets,
    scarceForMs: view.scarceForMs ?? 0,
    paused: ratePerSecond === 0,
    behind: ratePerSecond > 0 && ((slipMs ?? 0) > BEHIND_FROM_MS || (view.scarceForMs ?? 0) >= SCARCE_FROM_MS),
    jain: crowd.jain === null ? null : rounded(crowd.jain, 4),
  };
}

/** The same of one bucket alone, for its tenant's eyes: nothing in it comes from anybody else. */
export function ownTypeRow(
  type: string,
  { bucket, row, rates, atMs }: { bucket: SurveyedBucket; row: BucketRow; rates: TypeParts['rates']; atMs: number },
): TypeRow {
  const { concurrency } = bucket.profile;
  return {
    type,
    inPerSecond: rounded(rates.in, 2),
    outPerSecond: rounded(rates.out, 2),
    capacityPerSecond: row.ratePerSecond,
    running: row.running,
    concurrency: limitOrNull(concurrency),
    busy: row.running,
    waiting: row.waiting,
    delayed: row.delayed,
    oldestMs: longestAt(bucket, atMs),
    slipMs: bucket.waiting === 0 ? null : bucket.lateMs,
    readyBuckets: bucket.nextStartMs === 0 && bucket.waiting > 0 ? 1 : 0,
    backloggedBuckets: bucket.waiting + bucket.delayed > 0 ? 1 : 0,
    scarceForMs: 0,
    paused: row.paused,
    behind: !row.paused && bucket.lateMs > BEHIND_FROM_MS,
    jain: null,
  };
}

function* lateness(buckets: readonly SurveyedBucket[]): Iterable<number> {
  for (const { lateMs } of buckets) if (Number.isFinite(lateMs)) yield lateMs;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** As long ago as it was looked at, its oldest has waited on, as far as anybody knows. */
function longestAt({ longestMs, atMs: readAtMs }: SurveyedBucket, atMs: number): number | null {
  return longestMs === null ? null : longestMs + Math.max(0, atMs - readAtMs);
}

function greatest(values: readonly (number | null)[]): number | null {
  let found: number | null = null;
  for (const value of values) if (value !== null && (found === null || value > found)) found = value;
  return found;
}

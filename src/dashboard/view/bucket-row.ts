import type { Mode } from '../../model/profile.js';
import type { SurveyedBucket } from '../../shaping/bucket-survey.js';
import { type Crowd, deservedOf } from './crowd.js';
import { type Trouble, troublesOf } from './trouble.js';

/** A bucket as the page shows it. */
export interface BucketRow {
  readonly tenant: string;
  readonly mode: Mode;
  readonly level: number;
  readonly burst: number;
  /** `null`: unlimited. */
  readonly depth: number | null;
  readonly waiting: number;
  readonly delayed: number;
  readonly running: number;
  /** `null`: unlimited. */
  readonly ratePerSecond: number | null;
  readonly weight: number;
  /** RFC 3339; in the past where the job waits for a slot. `null` when nothing will start. */
  readonly nextStartAt: string | null;
  readonly refusedPerMinute: number;
  /** Of all that the type was served, 0 to 1; `null` when it was served nothing, and for a tenant's own eyes. */
  readonly received: number | null;
  readonly deserved: number | null;
  readonly paused: boolean;
  readonly trouble: readonly Trouble[];
}

/** A bucket among others, as it was found. */
export function bucketRow(bucket: SurveyedBucket, crowd: Crowd, refusedPerMinute: number): BucketRow {
  const { profile } = bucket;
  return {
    tenant: bucket.tenant,
    mode: profile.mode,
    level: rounded(bucket.level, 2),
    burst: profile.burst,
    depth: limitOrNull(profile.depth),
    waiting: bucket.waiting,
    delayed: bucket.delayed,
    running: bucket.running,
    ratePerSecond: limitOrNull(profile.ratePerSecond),
    weight: profile.weight,
    nextStartAt: nextStart(bucket),
    refusedPerMinute,
    received: share(bucket.servedPerSecond, crowd),
    deserved: share(deservedOf(bucket, crowd), crowd),
    paused: bucket.paused,
    trouble: troublesOf(bucket, refusedPerMinute, crowd),
  };
}

/** What the type's others make of a bucket is nothing that its tenant may see. */
export function ownRow(row: BucketRow): BucketRow {
  const trouble = row.trouble.filter((each) => each !== 'noisy' && each !== 'starved');
  return { ...row, received: null, deserved: null, trouble };
}

/** A limit as JSON has it. */
export function limitOrNull(limit: number): number | null {
  return Number.isFinite(limit) ? limit : null;
}

/** With so many digits behind the point. */
export function rounded(value: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}

/** Dates end there. */
const LAST_MS = 8.64e15;

/** Of buckets that are shown again and again as they were found: to write down an instant takes as long as all the rest. */
const starts = new WeakMap<SurveyedBucket, string | null>();

function nextStart(bucket: SurveyedBucket): string | null {
  const known = starts.get(bucket);
  if (known !== undefined) return known;
  const start = startOf(bucket);
  starts.set(bucket, start);
  return start;
}

function startOf({ nextStartMs, lateMs, atMs }: SurveyedBucket): string | null {
  if (nextStartMs === null || !(atMs + nextStartMs <= LAST_MS)) return null;
  return new Date(Math.round(atMs + nextStartMs - lateMs)).toISOString();
}

function share(perSecond: number, { servedPerSecond }: Crowd): number | null {
  return servedPerSecond > 0 ? rounded(Math.min(1, perSecond / servedPerSecond), 4) : null;
}

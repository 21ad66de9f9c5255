import type { Pace } from '../bucket.js';
import type { Mode } from '../profile.js';

/** A bucket's profile in the units of the arithmetic. An emission interval of `Infinity` is a rate of 0: paused. */
export interface BucketTerms {
  readonly pace: Pace;
  readonly weight: number;
  /** Jobs of the bucket that may run at once. */
  readonly concurrency: number;
  /** Jobs that may wait, delayed ones included. */
  readonly depth: number;
  /** Bytes of payload that may wait, delayed jobs included. */
  readonly maxBytes: number;
  /** Longest wait for the rate that is admitted, in microseconds. */
  readonly maxWaitUs: number;
  /** Whether a job is charged at the door or when it starts. */
  readonly mode: Mode;
}

/** The capacity of a type. An emission interval of 0 is unlimited, one of `Infinity` is a rate of 0: paused. */
export interface TypeTerms {
  readonly emissionUs: number;
  readonly burst: number;
  readonly concurrency: number;
  readonly slackUs: number;
}

/** Whether two profiles say the same. */
export function sameTerms(one: BucketTerms, other: BucketTerms): boolean {
  const { pace: onePace, ...oneRest } = one;
  const { pace: otherPace, ...otherRest } = other;
  return sameFields({ ...onePace }, { ...otherPace }) && sameFields(oneRest, otherRest);
}

function sameFields(one: Readonly<Record<string, unknown>>, other: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(one).every((field) => one[field] === other[field]);
}

import type { BucketRow } from '../../../src/dashboard/view/bucket-row.js';
import type { Crowd } from '../../../src/dashboard/view/crowd.js';
import { DEFAULT_PROFILE, type Profile } from '../../../src/model/profile.js';
import type { SurveyedBucket } from '../../../src/shaping/bucket-survey.js';

export const AT_MS = Date.UTC(2026, 10, 30, 9);

/** A bucket in which nothing is, but for what a test says. */
export function bucket(
  parts: Partial<Omit<SurveyedBucket, 'profile'>> & { readonly profile?: Partial<Profile> } = {},
): SurveyedBucket {
  const { profile, ...rest } = parts;
  return {
    type: 'ocr',
    tenant: 'acme',
    atMs: AT_MS,
    ...{ level: 0, waiting: 0, delayed: 0, running: 0, waitingCost: rest.waiting ?? 0, waitingBytes: 0 },
    ...{ nextStartMs: null, servedPerSecond: 0, deservedPerSecond: 0 },
    ...{ paused: false, heldForMs: 0, lateMs: 0, longestMs: null },
    ...rest,
    profile: { ...DEFAULT_PROFILE, ...profile },
  };
}

/** Others who want workers too, of which there are too few. */
export function crowd(parts: Partial<Crowd> = {}): Crowd {
  return {
    servedPerSecond: 10,
    isScarce: true,
    fairPerWeight: 1,
    ready: 5,
    backlogged: 5,
    medianBacklog: 10,
    jain: 1,
    ...parts,
  };
}

/** A row about which a test says what matters. */
export function row(parts: Partial<BucketRow> = {}): BucketRow {
  return {
    ...{ tenant: 'acme', mode: 'shape', level: 0, burst: 1, depth: 100, waiting: 0, delayed: 0, running: 0 },
    ...{ ratePerSecond: 1, weight: 1, nextStartAt: null, refusedPerMinute: 0, received: null, deserved: null },
    ...{ paused: false, trouble: [] },
    ...parts,
  };
}

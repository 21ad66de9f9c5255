import { type BucketState, etaUs, type Pace, reRate } from '../../model/bucket.js';

/** What waits in a bucket, and its level; instants in µs by any one clock. */
export interface Previewed {
  readonly state: BucketState;
  readonly pace: Pace;
  readonly waiting: number;
  /** Units. */
  readonly waitingCost: number;
}

/**
 * When the last of what waits now would start at the bucket's own rate, as it is and with another pace, if a slot is free
 * whenever one is due. The change keeps the level, as it does when it is made. The last job is taken for an average one.
 */
export function previewUs({ state, pace, waiting, waitingCost }: Previewed, other: Pace, nowUs: number) {
  if (waiting === 0) return { endsAtUs: nowUs, wouldEndAtUs: nowUs };
  const ahead = { cost: waitingCost - waitingCost / waiting, jobs: waiting - 1, backlogged: true };
  return {
    endsAtUs: etaUs(state, pace, ahead, nowUs),
    wouldEndAtUs: etaUs(reRate(state, pace, other, nowUs), other, ahead, nowUs),
  };
}

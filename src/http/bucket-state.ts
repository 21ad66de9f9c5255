import { Type } from 'typebox';
import type { BucketView } from '../shaping/shaping.js';
import { Limit, limitOrNull } from './limit-or-null.js';

/** What is in a bucket, and how it is served. */
export const BUCKET_STATE = {
  level: Type.Number({ description: 'cost units in the bucket now' }),
  waiting: Type.Integer(),
  delayed: Type.Integer(),
  running: Type.Integer(),
  waitingCost: Type.Number(),
  waitingBytes: Type.Integer(),
  nextStartMs: Limit,
  share: Type.Object({
    receivedPerSecond: Type.Number({ description: 'cost units that started, over about the last minute' }),
    deservedPerSecond: Type.Number({ description: 'the weighted share of what was served while it was ready' }),
  }),
};

/** The same of one bucket. */
export function bucketState(bucket: BucketView) {
  const { level, waiting, delayed, running, waitingCost, waitingBytes, nextStartMs } = bucket;
  return {
    ...{ level, waiting, delayed, running, waitingCost, waitingBytes },
    nextStartMs: nextStartMs === null ? null : limitOrNull(Math.ceil(nextStartMs)),
    share: { receivedPerSecond: bucket.servedPerSecond, deservedPerSecond: bucket.deservedPerSecond },
  };
}

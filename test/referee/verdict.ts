import { type Contract, DEFAULT_TOLERANCES, type Tolerances } from './contract.js';
import type { Judge, Judgement, Violation } from './judgement.js';
import { judgeConcurrency } from './judges/concurrency.js';
import { judgeDepth } from './judges/depth.js';
import { judgeEnds } from './judges/ends.js';
import { judgeEnvelope } from './judges/envelope.js';
import { judgeFairness } from './judges/fairness.js';
import { judgeLongRun } from './judges/long-run.js';
import { judgeNextPlace } from './judges/next-place.js';
import { judgeOneResult } from './judges/one-result.js';
import { judgeOrder } from './judges/order.js';
import { judgePromises } from './judges/promises.js';
import { judgeRanges } from './judges/ranges.js';
import { judgeWallClock } from './judges/wall-clock.js';
import { openCase } from './open-case.js';
import type { Trace } from './trace.js';

const JUDGES: readonly Judge[] = [
  judgeEnvelope,
  judgeLongRun,
  judgeOrder,
  judgeFairness,
  judgeEnds,
  judgeOneResult,
  judgeConcurrency,
  judgeDepth,
  judgePromises,
  judgeRanges,
  judgeNextPlace,
  judgeWallClock,
];

/** What all judges came to. */
export interface Verdict {
  readonly violations: readonly Violation[];
  readonly judgements: readonly Judgement[];
  readonly tolerances: Tolerances;
  /** What the trace held, in numbers. */
  readonly seen: {
    readonly admitted: number;
    readonly refused: number;
    readonly starts: number;
    readonly buckets: number;
    /** The longest that a handler's call was on its way: a measure of how busy the workers were. */
    readonly longestWayMs: number;
  };
}

/**
 * Judges a trace against a contract. Pure. Throws when the trace speaks of a type or bucket that the contract does not know.
 *
 * @param tolerances what differs from {@link DEFAULT_TOLERANCES}
 */
export function judge(trace: Trace, contract: Contract, tolerances: Partial<Tolerances> = {}): Verdict {
  const file = openCase(trace, contract, { ...DEFAULT_TOLERANCES, ...tolerances });
  const judgements = JUDGES.map((each) => each(file));
  return {
    violations: judgements.flatMap((judgement) => judgement.violations),
    judgements,
    tolerances: file.tolerances,
    seen: {
      admitted: file.jobs.size,
      refused: file.buckets.reduce((sum, bucket) => sum + bucket.refusals.length, 0),
      starts: file.bucketOf.size,
      buckets: file.buckets.length,
      longestWayMs: trace.reduce((most, event) => Math.max(most, event.kind === 'start' ? (event.wayMs ?? 0) : 0), 0),
    },
  };
}

import type { BucketRecord, Evidence, Run, TypeRecord } from './case-file.js';
import { isEnd } from './job-ends.js';
import { StepCount } from './step-count.js';
import { termsAt } from './terms.js';

/** Less than any instant the referee tells apart, in milliseconds: two things that far apart are one after the other. */
export const INSTANT_MS = 0.001;

/**
 * Where a slot was certainly free: every run counts from the earliest instant at which it can have been dispatched to the
 * latest at which it can have been settled, and no slot is certain during an outage.
 */
export class Occupancy {
  readonly #file: Evidence;
  readonly #type: TypeRecord;
  readonly #ofType: StepCount;
  readonly #ofBucket = new Map<BucketRecord, StepCount>();

  constructor(file: Evidence, type: TypeRecord) {
    this.#file = file;
    this.#type = type;
    const { arrivalMs } = file.tolerances;
    const spans = (runs: readonly Run[]) =>
      runs.map((run) => ({ from: run.startAt - arrivalMs, to: lastPossibleEnd(file, run) + arrivalMs }));
    this.#ofType = new StepCount(spans(type.runs));
    for (const bucket of type.buckets) this.#ofBucket.set(bucket, new StepCount(spans(bucket.runs)));
  }

  /** True when the bucket could have started a job at any instant from `from` to `to`. An empty interval is free. */
  certainlyFree(bucket: BucketRecord, from: number, to: number): boolean {
    if (to < from) return true;
    if (this.#file.outages.some((outage) => outage.from <= to && outage.to >= from)) return false;
    const slots = Math.min(termsAt(this.#type.pieces, to).concurrency, this.#type.contract.slots ?? Infinity);
    if (slots !== Infinity && this.#ofType.highest(from, to) >= slots) return false;
    const cap = termsAt(bucket.pieces, to).concurrency;
    return cap === Infinity || (this.#ofBucket.get(bucket)?.highest(from, to) ?? 0) < cap;
  }
}

/** A run whose end nobody told lasts, for all we know, until its job runs again or was seen at an end. */
function lastPossibleEnd(file: Evidence, run: Run): number {
  if (run.endAt !== null && run.outcome !== 'gone') return run.endAt;
  const job = file.jobs.get(run.job);
  const next = job?.runs.find((other) => other.startAt > run.startAt);
  if (next !== undefined) return next.startAt;
  const seen = job?.sights.find((sight) => isEnd(sight.state));
  return seen?.answeredAt ?? Infinity;
}

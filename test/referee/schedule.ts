import type { CapacityGauge } from './capacity-gauge.js';
import type { BucketRecord, Evidence, JobRecord, Run, TypeRecord } from './case-file.js';
import { Gauge, type Limits, limitsOf } from './gauge.js';
import { lastPossiblyWaiting } from './job-ends.js';
import { INSTANT_MS, type Occupancy } from './occupancy.js';
import { Recent } from './recent.js';
import { type Span, StepCount } from './step-count.js';
import { termsAt } from './terms.js';

/** One start, beside the instants between which it was due by the starts before it. */
export interface ScheduledStart {
  readonly run: Run;
  readonly limits: Limits;
  /** The latest instant at which its job can have joined the line. */
  readonly joinHi: number;
  /** Late, and something lawful may be why: no slot certainly free, the type's own rate, an outage. */
  readonly held: boolean;
  /** The terms changed since the start before, or nothing is known of it: a new beginning. */
  readonly afresh: boolean;
  /** The highest that the bucket can stand at after this start. */
  readonly after: Gauge;
}

/** What the rates alone would have made of a type's starts: one list per bucket, in the order of the starts. */
export function scheduleOf(
  file: Evidence,
  type: TypeRecord,
  occupancy: Occupancy,
  capacity: CapacityGauge,
): ReadonlyMap<BucketRecord, readonly ScheduledStart[]> {
  return new Map(type.buckets.map((bucket) => [bucket, scheduleBucket(file, bucket, occupancy, capacity)]));
}

function scheduleBucket(
  file: Evidence,
  bucket: BucketRecord,
  occupancy: Occupancy,
  capacity: CapacityGauge,
): readonly ScheduledStart[] {
  const { arrivalMs, lateMs } = file.tolerances;
  let lowest = Gauge.lowest();
  let highest = Gauge.highest();
  let before: Run | undefined;
  const recent = new Recent(arrivalMs);
  const waiting = new StepCount(possiblyWaiting(bucket));
  return bucket.runs.map((run): ScheduledStart => {
    const terms = termsAt(bucket.pieces, run.startAt);
    const limits = limitsOf(terms);
    const from = before === undefined ? run.startAt : before.startAt - arrivalMs;
    const afresh = before === undefined || termsAt(bucket.pieces, from) !== terms;
    if (afresh) lowest = Gauge.lowest();
    if (afresh) highest = Gauge.highest();

    const job = file.jobs.get(run.job);
    const { joinLo, joinHi } = joined(job, run);
    const dueLo = Math.max(lowest.due(limits), joinLo);
    const free = occupancy.certainlyFree(bucket, dueLo, run.startAt - arrivalMs - INSTANT_MS);
    // More than the slack, and its bucket loses its place: then all behind it come later.
    const held = run.startAt - dueLo > Math.min(lateMs, limits.slackMs) && (!free || capacity.dueBefore(run) > dueLo);

    const idleUntil = waiting.at(joinLo - INSTANT_MS) === 0 ? joinLo : -Infinity;
    // What a handler handed back was charged and given back: from below it counts for nothing.
    if (run.outcome !== 'returned') lowest.charge(limits, run.cost, run.startAt - arrivalMs, idleUntil);
    highest.startedBy(limits, run.startAt, recent.until(run.startAt));
    recent.add(run.startAt, run.cost);
    highest.charge(limits, run.cost, run.startAt, Math.min(joinHi, run.startAt));
    before = run;
    return { run, limits, joinHi, held, afresh, after: highest.copy() };
  });
}

/** When something may have been waiting in the line; a request whose outcome nobody knows may have stored a job. */
function possiblyWaiting(bucket: BucketRecord): Span[] {
  const known = bucket.jobs.map((job) => ({ from: job.joinLo, to: lastPossiblyWaiting(job) }));
  const unknown = bucket.unknowns.map((event) => ({ from: event.sentAt + event.delayMs, to: Infinity }));
  return [...known, ...unknown];
}

/** When a run's job joined the line; of a second run, or of an unknown job, only that it was before it started. */
function joined(job: JobRecord | undefined, run: Run): { joinLo: number; joinHi: number } {
  if (job === undefined || job.runs[0] !== run) return { joinLo: -Infinity, joinHi: run.startAt };
  return job;
}

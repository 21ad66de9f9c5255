import type { Rules } from './rules.js';
import type { ScheduledBucket } from './scheduled-bucket.js';
import type { ScheduledJob } from './scheduled-job.js';
import type { SchedulerState } from './scheduler-state.js';

/** Where the start of a job left the books: of its bucket, of the type, of fair queuing. */
export interface StartMarks {
  readonly tatUs: number;
  readonly jobTatUs: number;
  readonly typeTatUs: number;
  readonly finish: number;
}

/** What a bucket's and its type's books hold now. */
export function marksOf({ type }: SchedulerState, { state, finish }: ScheduledBucket): StartMarks {
  return { ...state, typeTatUs: type.state.tatUs, finish };
}

/**
 * A running job costs another number of units than was thought. More is added as if it had been known from the start; less
 * takes out at most what has not leaked since. The caller places the bucket.
 */
export function correctCost(all: SchedulerState, job: ScheduledJob, cost: number): void {
  const bucket = all.bucket(job.tenant);
  const units = cost - job.cost;
  const us = units * bucket.terms.pace.emissionUs;
  if (job.charged) {
    const { at, mark } = corrected(all.rules, us, job.charged.tatUs, bucket.state.tatUs, all.nowUs);
    bucket.state = { ...bucket.state, tatUs: at };
    job.charged = { ...job.charged, tatUs: mark };
  } else {
    correctRate(all, bucket, job, us);
  }
  correctShares(all, bucket, job, units);
  job.cost = cost;
}

/** The start of a job is undone: nothing of it was used. What was paid for at the door stays paid. */
export function undoStart(all: SchedulerState, job: ScheduledJob): void {
  const bucket = all.bucket(job.tenant);
  const { emissionUs, jobEmissionUs } = bucket.terms.pace;
  if (!job.charged) {
    const { jobTatUs } = bucket.state;
    const left = all.rules.leftOfCharge(jobEmissionUs, job.marks?.jobTatUs ?? 0, jobTatUs, all.nowUs);
    bucket.state = { ...bucket.state, jobTatUs: jobTatUs - left };
    correctRate(all, bucket, job, -job.cost * emissionUs);
  }
  correctShares(all, bucket, job, -job.cost);
}

function correctRate(all: SchedulerState, bucket: ScheduledBucket, job: ScheduledJob, us: number): void {
  if (!job.marks) return;
  const { at, mark } = corrected(all.rules, us, job.marks.tatUs, bucket.state.tatUs, all.nowUs);
  bucket.state = { ...bucket.state, tatUs: at };
  job.marks = { ...job.marks, tatUs: mark };
}

/** What the bucket has of the type's rate and of its slots. */
function correctShares(all: SchedulerState, bucket: ScheduledBucket, job: ScheduledJob, units: number): void {
  if (!job.marks) return;
  const { type, schedule, rules, nowUs } = all;
  const typeUs = units * type.pace.emissionUs;
  const ofType = corrected(rules, typeUs, job.marks.typeTatUs, type.state.tatUs, nowUs);
  type.state = { ...type.state, tatUs: ofType.at };
  const share = units / bucket.terms.weight;
  const ofFair = corrected(rules, share, job.marks.finish, bucket.finish, schedule.fair.virtualTime);
  schedule.correct(bucket, ofFair.at, units);
  job.marks = { ...job.marks, typeTatUs: ofType.mark, finish: ofFair.mark };
}

/** A book at `at`, in which a charge ended at `mark`, with `amount` more of that charge, or less: both anew. */
export function corrected(rules: Rules, amount: number, mark: number, at: number, floor: number) {
  const change = amount < 0 ? -rules.leftOfCharge(-amount, mark, at, floor) : amount;
  return { at: at + change, mark: mark + change };
}

import { measureRun } from '../service.js';
import { undoStart } from './running-charge.js';
import type { ScheduledBucket } from './scheduled-bucket.js';
import type { ScheduledJob } from './scheduled-job.js';
import type { SchedulerState } from './scheduler-state.js';

/**
 * What one run of a job came to. A returned job uses no attempt and goes to the front of its priority; so does one whose
 * upstream is busy, which holds its bucket or the type and is as if it had not started.
 */
export type RunOutcome =
  | { readonly kind: 'completed' | 'failed' | 'cancelled' | 'return' }
  | { readonly kind: 'retry'; readonly delayMs: number; readonly front: boolean }
  | { readonly kind: 'busy'; readonly holdMs: number; readonly scope: 'bucket' | 'type' };

const AGAIN: ReadonlySet<RunOutcome['kind']> = new Set(['retry', 'return', 'busy']);

/** Ends the run of `job` under `token`; it reaches an end or waits again. The caller places the bucket. */
export function endRun(all: SchedulerState, token: string, job: ScheduledJob, outcome: RunOutcome): ScheduledBucket {
  const bucket = all.endRun(token, job);
  job.settledBy = token;
  if (outcome.kind === 'completed' || outcome.kind === 'failed') {
    all.type.service = measureRun(all.type.service, all.nowUs - (job.startedAtUs ?? all.nowUs));
  }
  if (outcome.kind === 'busy') {
    const held = outcome.scope === 'type' ? all.type : bucket;
    held.heldUntilUs = Math.max(held.heldUntilUs, all.nowUs + outcome.holdMs * 1000);
    undoStart(all, job);
  }
  // A job that was asked to stop does not wait again.
  const again = AGAIN.has(outcome.kind) && !job.cancelRequested;
  if (!again) {
    job.state = outcome.kind === 'completed' || outcome.kind === 'failed' ? outcome.kind : 'cancelled';
  } else if (outcome.kind === 'retry' && outcome.delayMs > 0) {
    bucket.backlog.delay(job, (Math.floor(all.nowUs / 1000) + outcome.delayMs) * 1000, endFor(outcome));
  } else {
    bucket.backlog.join(job, endFor(outcome));
  }
  return bucket;
}

/** Where a job that waits again joins its priority. */
function endFor(outcome: RunOutcome): 'front' | 'back' {
  return outcome.kind === 'retry' && !outcome.front ? 'back' : 'front';
}

/** Takes back what runs under a lock that ran out: to the front of its priority, or to an end when it stalled too often. */
export function takeBack(all: SchedulerState, token: string, maxStalled: number): ScheduledJob | undefined {
  const job = all.runs.get(token);
  if (!job) return undefined;
  const bucket = all.endRun(token, job);
  job.stalls += 1;
  if (job.cancelRequested) job.state = 'cancelled';
  else if (job.stalls > maxStalled) job.state = 'failed';
  else bucket.backlog.join(job, 'front');
  all.place(bucket);
  return job;
}

import { measureStart, observe } from '../service.js';
import { marksOf } from './running-charge.js';
import type { ScheduledBucket } from './scheduled-bucket.js';
import type { ScheduledJob } from './scheduled-job.js';
import type { SchedulerState } from './scheduler-state.js';
import { wholeUs } from './whole-us.js';

/** What a dispatch came to. `waitUs` is relative; `null` until an event. */
export type Dispatched =
  | { readonly kind: 'job'; readonly tenant: string; readonly id: string }
  | { readonly kind: 'nothing'; readonly waitUs: number | null };

/**
 * Hands out the fairest ready job of any tenant under `token`. The order of gates: the type's capacity, the bucket's rate,
 * its concurrency, then the job; nothing is held while waiting for something else.
 *
 * @param limit How many buckets and how many delayed jobs of each are looked at, at most.
 */
export function dispatchNext(all: SchedulerState, token: string, limit: number): Dispatched {
  const { schedule, type } = all;
  for (const bucket of schedule.ripe(all.nowUs, limit)) {
    bucket.backlog.promote(all.nowUs, limit);
    all.place(bucket);
  }
  for (let looks = 0; looks < limit; looks += 1) {
    const head = schedule.fairest();
    if (!head) break;
    const opensAtUs = type.opensAtUs();
    if (opensAtUs > all.nowUs) return nothingUntil(all, opensAtUs);
    head.bucket.backlog.promote(all.nowUs, limit);
    const id = take(all, head.bucket, head.tag, token);
    all.place(head.bucket);
    if (id !== undefined) return { kind: 'job', tenant: head.bucket.tenant, id };
  }
  schedule.rest(all.runs.size);
  return nothingUntil(all, schedule.ready.size > 0 ? all.nowUs : schedule.firstDueAtUs());
}

/** The bucket's next job starts, unless the bucket is at its cap after all, or its first job is another one that waits. */
function take(all: SchedulerState, bucket: ScheduledBucket, tag: number, token: string): string | undefined {
  const { weights, busySinceUs = all.nowUs, fair } = all.schedule;
  all.schedule.ready.delete(bucket);
  if (bucket.paused || !all.rules.hasSlot(bucket.active.size, bucket.terms.concurrency)) return undefined;
  if (bucket.startableAtUs(all.rules) > all.nowUs) return undefined;
  const job = bucket.backlog.take();
  if (!job) return undefined;
  job.state = 'active';
  job.startByUs = undefined;
  bucket.active.add(job);
  all.runs.set(token, job);
  all.type.startJob(job.cost, all.nowUs);
  if (!job.charged) bucket.state = all.rules.startJob(bucket.state, bucket.terms.pace, job.cost, all.nowUs);
  const advance = Math.max(0, tag - fair.virtualTime);
  all.type.service = measureStart(all.type.service, { nowUs: all.nowUs, busySinceUs, advance, weights });
  all.schedule.serve(bucket, tag, job.cost);
  keepPromise(all, job);
  job.startedAtUs = all.nowUs;
  job.marks = marksOf(all, bucket);
  return job.id;
}

/** What was estimated of the job's first start is compared with that, in whole milliseconds. */
function keepPromise(all: SchedulerState, job: ScheduledJob): void {
  const { guess } = job;
  if (!guess || job.startedAtUs !== undefined) return;
  const kept = { waitUs: Math.round(guess.waitUs / 1000) * 1000, band: guess.band };
  all.type.service = observe(all.type.service, kept, wholeMs(all.nowUs) - wholeMs(guess.atUs));
}

function wholeMs(us: number): number {
  return Math.floor(us / 1000) * 1000;
}

/** Expiry has the same timer: an overdue job ends at its instant, not when it reaches the head. */
function nothingUntil(all: SchedulerState, atUs: number): Dispatched {
  const expires = [...all.jobs.values()].reduce((first, { startByUs }) => Math.min(first, startByUs ?? Infinity), atUs);
  return { kind: 'nothing', waitUs: expires === Infinity ? null : wholeUs(expires - all.nowUs) };
}

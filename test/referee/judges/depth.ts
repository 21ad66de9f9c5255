import type { BucketRecord, CaseFile, JobRecord } from '../case-file.js';
import { lastPossiblyWaiting } from '../job-ends.js';
import { type Judge, shown, type Violation } from '../judgement.js';
import { INSTANT_MS } from '../occupancy.js';
import { StepCount } from '../step-count.js';
import { highestUntil, termsAt } from '../terms.js';

/**
 * G8, depth: jobs waiting for their first start never exceed the depth, nor their payloads maxBytes; and nobody is refused
 * for a full bucket that certainly was not.
 *
 * A job certainly waits from the answer to its request until the arrival tolerance before its first start. Jobs that came
 * back (retried, stalled, handed back) may exceed the depth and are not counted.
 */
export const judgeDepth: Judge = (file) => {
  const violations: Violation[] = [];
  let judged = 0;
  for (const bucket of file.buckets) {
    judged += bucket.jobs.length + bucket.refusals.length;
    const waiting = bucket.jobs.map((job) => ({ ...certainlyWaiting(file, job), bytes: job.admission.bytes ?? 0 }));
    const jobs = overfull(bucket, new StepCount(waiting), 'depth');
    if (jobs !== undefined) violations.push(jobs);
    const bytes = overfull(bucket, new StepCount(waiting.map((each) => ({ ...each, weight: each.bytes }))), 'maxBytes');
    if (bytes !== undefined) violations.push(bytes);
    violations.push(...needlessRefusals(bucket));
  }
  return { guarantee: 'G8', what: 'answers at the door', judged, excused: 0, violations };
};

function overfull(bucket: BucketRecord, count: StepCount, limit: 'depth' | 'maxBytes'): Violation | undefined {
  let worst: Violation | undefined;
  let most = 0;
  for (const { from, level } of count.steps()) {
    const limitThen = highestUntil(bucket.pieces, from, limit);
    if (level - limitThen <= most) continue;
    most = level - limitThen;
    const what = limit === 'depth' ? 'jobs' : 'bytes of payload';
    const sentence = `${shown(level)} ${what} waited at once, where ${shown(limitThen)} may`;
    worst = { guarantee: 'G8', bucket: bucket.name, at: from, sentence };
  }
  return worst;
}

/** A job that never started leaves, for all we know, when its cancelling begins; one that expired, at any time. */
function certainlyWaiting(file: CaseFile, job: JobRecord): { from: number; to: number } {
  const from = job.admission.answeredAt;
  const cancelledAt = Math.min(...job.cancellations.map((event) => event.sentAt));
  const first = job.runs[0];
  if (first !== undefined) return { from, to: Math.min(first.startAt - file.tolerances.arrivalMs, cancelledAt) };
  return { from, to: cancelledAt === Infinity ? from : cancelledAt };
}

/** Refusals for a full bucket that cannot have been full, whatever the requests in flight came to. */
function* needlessRefusals(bucket: BucketRecord): Generator<Violation> {
  const refusals = bucket.refusals.filter(({ answer }) => answer.code === 'bucket_full' && answer.limit !== 'maxBytes');
  if (refusals.length === 0) return;
  const known = bucket.jobs.map((job) => ({
    from: job.joinLo - job.admission.delayMs,
    to: lastPossiblyWaiting(job) + INSTANT_MS,
  }));
  const unknown = bucket.unknowns.map((event) => ({ from: event.sentAt, to: Infinity }));
  const possible = new StepCount([...known, ...unknown]);
  for (const { event } of refusals) {
    const { depth, maxBytes } = termsAt(bucket.pieces, event.sentAt);
    if (maxBytes !== Infinity || termsAt(bucket.pieces, event.answeredAt).depth !== depth) continue;
    const most = possible.highest(event.sentAt, event.answeredAt);
    if (most >= depth) continue;
    const sentence = `a request was refused for a full bucket, when at most ${most} of ${shown(depth)} places were taken`;
    yield { guarantee: 'G8', bucket: bucket.name, at: event.answeredAt, sentence };
  }
}

import type { BucketRecord, CaseFile, JobRecord } from '../case-file.js';
import type { Disturbances } from '../disturbances.js';
import { type Judge, shown, type Violation } from '../judgement.js';
import type { Occupancy } from '../occupancy.js';
import { termsAt } from '../terms.js';

/** Whole milliseconds on both sides of a delay, and the most that a disciplined wall clock gains on a monotonic one. */
const DELAY_ROUNDING_MS = 2;
const CLOCK_DRIFT = 0.0005;

/**
 * G9, honest time at the door: a job starts when its 202 said.
 *
 * The wait is counted from the answer, which came between `sentAt` and `answeredAt`, so that no wall clock is needed. With
 * basis `rate` the start is judged from both sides, unless something lawful moved it (see {@link Disturbances}); with basis
 * `delay` from below. Whatever the basis, no delayed job starts before its delay is over. `capacity` is an estimate.
 */
export const judgePromises: Judge = (file) => {
  const violations: Violation[] = [];
  const tally = { judged: 0, excused: 0 };
  for (const { occupancy, buckets } of file.timetables.values()) {
    for (const [bucket, { disturbances }] of buckets) {
      for (const job of bucket.jobs) {
        const sentence =
          silent(bucket, job) ?? tooSoon(job) ?? broken(file, bucket, job, occupancy, disturbances, tally);
        if (sentence === undefined) continue;
        const at = job.runs[0]?.startAt ?? job.admission.answeredAt;
        violations.push({ guarantee: 'G9', bucket: bucket.name, at, sentence: `job ${job.id} ${sentence}` });
      }
    }
  }
  return { guarantee: 'G9', what: 'promised starts', ...tally, violations };
};

/** A 202 of a job that waits must say when it will start, unless its bucket stands still. */
function silent(bucket: BucketRecord, { answer, admission }: JobRecord): string | undefined {
  if (answer.state !== 'waiting' && answer.state !== 'delayed') return undefined;
  if (termsAt(bucket.pieces, admission.sentAt).ratePerSecond === 0) return undefined;
  if (termsAt(bucket.pieces, admission.answeredAt).ratePerSecond === 0) return undefined;
  if (answer.releaseAtMs === undefined) return 'was admitted without releaseAt';
  if (answer.waitMs === undefined || answer.waitMs < 0) return 'was admitted without waitMs';
  if (!['rate', 'capacity', 'delay'].includes(answer.basis ?? '')) return 'was admitted without a basis';
  return undefined;
}

function tooSoon(job: JobRecord): string | undefined {
  const { delayMs } = job.admission;
  const first = job.runs[0];
  if (first === undefined || delayMs === 0) return undefined;
  const earlyMs = job.joinLo - first.startAt;
  if (earlyMs <= DELAY_ROUNDING_MS + CLOCK_DRIFT * delayMs) return undefined;
  return `started ${shown(earlyMs)} ms before its delay of ${shown(delayMs)} ms was over`;
}

function broken(
  file: CaseFile,
  bucket: BucketRecord,
  job: JobRecord,
  occupancy: Occupancy,
  disturbances: Disturbances,
  tally: { judged: number; excused: number },
): string | undefined {
  const { waitMs, basis } = job.answer;
  const { sentAt, answeredAt, priority } = job.admission;
  const { arrivalMs, earlyMs, lateMs } = file.tolerances;
  const startAt = job.runs[0]?.startAt;
  if (startAt === undefined || waitMs === undefined || (basis !== 'rate' && basis !== 'delay')) return undefined;
  const early = sentAt + waitMs - startAt;
  const late = startAt - (answeredAt + waitMs);
  tally.judged += 1;
  if (early > earlyMs) {
    if (!disturbances.mayHasten(sentAt, startAt))
      return `started ${shown(early)} ms before it was promised (basis ${basis})`;
  } else if (late > lateMs && basis === 'rate') {
    const slotFree = occupancy.certainlyFree(
      bucket,
      sentAt + waitMs - arrivalMs,
      Math.min(answeredAt + waitMs + lateMs, startAt - arrivalMs) - arrivalMs,
    );
    const delayed = disturbances.mayDelay(sentAt, startAt, priority);
    if (slotFree && !delayed) return `started ${shown(late)} ms after it was promised (basis rate)`;
  } else return undefined;
  tally.judged -= 1;
  tally.excused += 1;
  return undefined;
}

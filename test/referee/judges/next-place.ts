import type { BucketRecord, CaseFile, Refusal } from '../case-file.js';
import { type Judge, shown, type Violation } from '../judgement.js';
import { lastUntil } from '../last-until.js';
import { INSTANT_MS } from '../occupancy.js';
import { termsAt } from '../terms.js';
import type { BucketTimetable, Timetable } from '../timetable.js';

/**
 * G9, honest time at a full door: a place is free when a 429 `bucket_full` said, and not long before.
 *
 * A place becomes free when a waiting job starts. Whether others took it first is another matter. Judged only where a slot
 * was certainly free, in a bucket with a rate in which no job ran twice (jobs that come back may stand beyond the depth).
 */
export const judgeNextPlace: Judge = (file) => {
  const violations: Violation[] = [];
  const tally = { judged: 0, excused: 0 };
  for (const timetable of file.timetables.values()) {
    for (const [bucket, { disturbances }] of timetable.buckets) {
      const firstRerun = bucket.runs.find((run) => file.jobs.get(run.job)?.runs[0] !== run)?.startAt ?? Infinity;
      for (const refusal of bucket.refusals) {
        if (refusal.answer.code !== 'bucket_full' || refusal.answer.limit === 'maxBytes') continue;
        const found = weigh({ file, timetable, bucket, disturbances, firstRerun }, refusal);
        if (found === 'excused') tally.excused += 1;
        else tally.judged += 1;
        if (typeof found === 'object') {
          violations.push({ guarantee: 'G9', bucket: bucket.name, at: refusal.event.answeredAt, ...found });
        }
      }
    }
  }
  return { guarantee: 'G9', what: 'promised places', ...tally, violations };
};

interface Scene {
  readonly file: CaseFile;
  readonly timetable: Timetable;
  readonly bucket: BucketRecord;
  readonly disturbances: BucketTimetable['disturbances'];
  /** When a job of the bucket ran for a second time. */
  readonly firstRerun: number;
}

type Finding = 'kept' | 'excused' | { readonly sentence: string };

function weigh(scene: Scene, { event, answer: { retryAfterMs } }: Refusal): Finding {
  const { file, bucket, disturbances, timetable, firstRerun } = scene;
  const { sentAt, answeredAt } = event;
  if (retryAfterMs === undefined) return { sentence: 'a full bucket was answered without retryAfterMs' };
  const { ratePerSecond, jobRatePerSecond } = termsAt(bucket.pieces, sentAt);
  if (retryAfterMs === null || Math.min(ratePerSecond, jobRatePerSecond) === Infinity) return 'excused';
  const horizon = answeredAt + retryAfterMs + file.tolerances.lateMs;
  const startsUntil = (at: number) => lastUntil(bucket.runs, (run) => run.startAt, at) + 1;
  const starts = bucket.runs.slice(startsUntil(sentAt - INSTANT_MS), startsUntil(horizon));
  // Where the place did not come, whatever it was that did come tells why.
  const later = bucket.runs[startsUntil(horizon)]?.startAt ?? file.endsAt;
  const until = starts.length > 0 ? horizon : later;
  if (horizon > file.endsAt || firstRerun <= horizon) return 'excused';
  // A priority above all: any start frees a place, so only what moves every start counts.
  if (disturbances.mayHasten(sentAt, until) || disturbances.mayDelay(sentAt, until, 0)) return 'excused';
  if (!timetable.occupancy.certainlyFree(bucket, sentAt - file.tolerances.arrivalMs, sentAt)) return 'excused';
  const freed = starts.find((run) => run.startAt - file.tolerances.arrivalMs > answeredAt);
  if (freed !== undefined) return notSooner(freed.startAt, sentAt, retryAfterMs, file.tolerances.earlyMs);
  return starts.length > 0 ? 'kept' : neverFree(scene, sentAt + retryAfterMs, horizon, retryAfterMs);
}

function notSooner(freedAt: number, sentAt: number, retryAfterMs: number, earlyMs: number): Finding {
  const soonerMs = sentAt + retryAfterMs - freedAt;
  if (soonerMs <= earlyMs) return 'kept';
  const told = shown(retryAfterMs);
  return { sentence: `a full bucket was to have a place in ${told} ms, and had one ${shown(soonerMs)} ms sooner` };
}

function neverFree({ file, bucket, timetable }: Scene, from: number, horizon: number, retryAfterMs: number): Finding {
  const { arrivalMs, lateMs } = file.tolerances;
  if (!timetable.occupancy.certainlyFree(bucket, from - arrivalMs, horizon - lateMs)) return 'excused';
  if (timetable.capacity.dueAfter(horizon) > from) return 'excused';
  return { sentence: `a full bucket was to have a place in ${shown(retryAfterMs)} ms, and no job started by then` };
}

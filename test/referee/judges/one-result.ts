import { isDeepStrictEqual } from 'node:util';
import type { JobRecord } from '../case-file.js';
import { isEnd, seenEnds } from '../job-ends.js';
import { type Judge, shown, type Violation } from '../judgement.js';

/**
 * G6, one result: a job may run again, but once HTTP said that it ended, it stays so: no other end, no other result, no
 * state before the end, no new run. No run ends twice.
 */
export const judgeOneResult: Judge = (file) => {
  const violations: Violation[] = [];
  for (const { run, at } of file.surplusEnds) {
    const bucket = run === null ? undefined : file.bucketOf.get(run);
    const sentence =
      run === null ? 'a run ended that had never started' : `run ${run.run} of job ${run.job} ended twice`;
    violations.push({ guarantee: 'G6', bucket: bucket?.name ?? 'unknown', at, sentence });
  }
  for (const job of file.jobs.values()) {
    for (const { at, sentence } of contradictions(job, file.tolerances.arrivalMs)) {
      violations.push({ guarantee: 'G6', bucket: job.bucket.name, at, sentence });
    }
  }
  return { guarantee: 'G6', what: 'jobs with one result', judged: file.jobs.size, excused: 0, violations };
};

function* contradictions(job: JobRecord, arrivalMs: number): Generator<{ at: number; sentence: string }> {
  const ends = seenEnds(job);
  const first = ends[0];
  if (first === undefined) return;
  for (const end of ends) {
    if (end.state !== first.state) {
      yield { at: end.answeredAt, sentence: `job ${job.id} was seen ${first.state} and then ${end.state}` };
    } else if (end.result !== undefined && first.result !== undefined && !isDeepStrictEqual(end.result, first.result)) {
      yield { at: end.answeredAt, sentence: `job ${job.id} was seen ${end.state} with two different results` };
    }
  }
  for (const sight of job.sights) {
    if (sight.state === null || isEnd(sight.state) || sight.sentAt <= first.answeredAt) continue;
    yield { at: sight.answeredAt, sentence: `job ${job.id} was seen ${first.state} and later ${sight.state}` };
  }
  for (const run of job.runs) {
    if (run.startAt - arrivalMs <= first.answeredAt) continue;
    const after = shown(run.startAt - first.answeredAt);
    yield { at: run.startAt, sentence: `job ${job.id} was seen ${first.state} and ran ${after} ms later` };
  }
}

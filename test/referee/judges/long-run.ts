import type { BucketRecord, CaseFile } from '../case-file.js';
import type { Gauge } from '../gauge.js';
import { type Judge, shown, type Violation } from '../judgement.js';
import type { ScheduledStart } from '../schedule.js';

/** Shorter runs of starts say nothing about a long-run rate. */
const LONG_RUN = 10;

/**
 * G1, the long run: under constant backlog, while a slot is free when the bucket is due, the rate falls short by at most 1 %.
 *
 * A chain of starts is one in which each job waited already when the bucket fell due and no start was held back by anything
 * but the rate, nor by what was broken on purpose. Beside it runs the ideal bucket that starts each job at the very instant it is due; the real one may lag
 * behind it by 1 % of the time passed, and by one slack and one late start.
 */
export const judgeLongRun: Judge = (file) => {
  const chains = [...file.timetables.values()].flatMap(({ buckets }) =>
    [...buckets].flatMap(([bucket, { starts }]) => (neverRated(bucket) ? [] : lags(file, bucket, starts))),
  );
  const violations = chains.flatMap((chain) => (chain.violation === undefined ? [] : [chain.violation]));
  return { guarantee: 'G1', what: 'long runs under constant backlog', judged: chains.length, excused: 0, violations };
};

function neverRated(bucket: BucketRecord): boolean {
  return bucket.pieces.every(({ terms }) => terms.ratePerSecond === Infinity && terms.jobRatePerSecond === Infinity);
}

/** Every long run of one bucket, with what is wrong about it. */
function lags(
  file: CaseFile,
  bucket: BucketRecord,
  starts: readonly ScheduledStart[],
): { readonly violation: Violation | undefined }[] {
  const { lateMs, shortfall } = file.tolerances;
  const found: { violation: Violation | undefined }[] = [];
  let ideal: Gauge | undefined;
  let beganAt = 0;
  let idealAt = 0;
  let length = 0;
  let worst: Violation | undefined;
  const close = () => {
    if (length >= LONG_RUN) found.push({ violation: worst });
    worst = undefined;
  };
  let before = -Infinity;
  for (const { run, limits, joinHi, held, afresh, after } of starts) {
    const dueAt = ideal === undefined ? -Infinity : Math.max(ideal.due(limits), idealAt);
    const broken = file.outages.some(({ from, to }) => from <= run.startAt && to >= before);
    before = run.startAt;
    if (ideal === undefined || afresh || held || broken || joinHi > dueAt) {
      close();
      ideal = after.copy();
      beganAt = run.startAt;
      idealAt = run.startAt;
      length = 1;
      continue;
    }
    idealAt = dueAt;
    ideal.charge(limits, run.cost, dueAt, -Infinity);
    length += 1;
    const lag = run.startAt - dueAt;
    const allowed = shortfall * (dueAt - beganAt) + limits.slackMs + lateMs;
    if (lag <= allowed || length < LONG_RUN) continue;
    const sentence =
      `${length} starts in a row took ${shown(run.startAt - beganAt)} ms, with a job waiting and a slot free all the time, ` +
      `where the rate needs ${shown(dueAt - beganAt)} ms`;
    worst = { guarantee: 'G1', bucket: bucket.name, at: run.startAt, sentence };
  }
  close();
  return found;
}

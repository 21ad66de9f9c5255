import type { CaseFile, JobRecord } from '../case-file.js';
import type { Judge, Violation } from '../judgement.js';

/** With fewer ranges of a type, luck explains as much as calibration does. */
const ENOUGH = 1000;
/** Of ranges that say nine of ten, so many must hold at least. */
const LEAST_HELD = 0.8;

/**
 * G9, ranges of estimated starts: each holds the `releaseAt` that it goes with, comes with basis `capacity` alone, and of a
 * thousand or more of one type at least 80 in 100 hold. The waits are counted from the answer, as those of {@link ./promises.ts}.
 * An estimate goes by what was measured, so one over whose time something was broken on purpose is excused.
 */
export const judgeRanges: Judge = (file) => {
  const violations: Violation[] = [];
  const byType = new Map<string, { held: number; all: number; last: number }>();
  let excused = 0;
  for (const { buckets } of file.timetables.values()) {
    for (const [bucket] of buckets) {
      for (const job of bucket.jobs) {
        const { answeredAt: at } = job.admission;
        const sentence = senseless(job);
        if (sentence !== undefined) {
          violations.push({ guarantee: 'G9', bucket: bucket.name, at, sentence: `job ${job.id} ${sentence}` });
        }
        const held = isHeld(file, job);
        if (held === undefined) continue;
        if (isShaken(file, job)) {
          excused += 1;
          continue;
        }
        const type = bucket.name.split('/', 1)[0] ?? '';
        const tally = byType.get(type) ?? { held: 0, all: 0, last: at };
        byType.set(type, { held: tally.held + (held ? 1 : 0), all: tally.all + 1, last: Math.max(tally.last, at) });
      }
    }
  }
  let judged = 0;
  for (const [type, { held, all, last }] of byType) {
    if (all < ENOUGH) {
      excused += all;
      continue;
    }
    judged += all;
    if (held >= LEAST_HELD * all) continue;
    violations.push({ guarantee: 'G9', bucket: type, at: last, sentence: `kept ${held} of ${all} estimated ranges` });
  }
  return { guarantee: 'G9', what: 'estimated ranges', judged, excused, violations };
};

function senseless({ answer }: JobRecord): string | undefined {
  const { between, basis, releaseAtMs } = answer;
  if (between === undefined) return undefined;
  if (basis !== 'capacity') return `was given a range with basis ${basis ?? 'none'}`;
  const [earliest, latest] = between;
  if (releaseAtMs === undefined || !(earliest <= releaseAtMs && releaseAtMs <= latest)) {
    return 'was given a range without its own releaseAt in it';
  }
  return undefined;
}

/** `undefined` where there is no range, or no start to compare it with. */
function isHeld({ tolerances }: CaseFile, { answer, admission, runs }: JobRecord): boolean | undefined {
  const { between, releaseAtMs, waitMs } = answer;
  const startAt = runs[0]?.startAt;
  if (between === undefined || releaseAtMs === undefined || waitMs === undefined || startAt === undefined)
    return undefined;
  const [earliest, latest] = between.map((each) => waitMs + each - releaseAtMs);
  if (earliest === undefined || latest === undefined) return undefined;
  const { arrivalMs } = tolerances;
  return startAt >= admission.sentAt + earliest && startAt - arrivalMs <= admission.answeredAt + latest;
}

/** From the question until the start something was broken on purpose. */
function isShaken({ outages }: CaseFile, { admission, runs }: JobRecord): boolean {
  const until = Math.max(admission.answeredAt, runs[0]?.startAt ?? 0);
  return outages.some(({ from, to }) => from <= until && to >= admission.sentAt);
}

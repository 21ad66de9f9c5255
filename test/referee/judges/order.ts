import type { CaseFile, JobRecord, Run } from '../case-file.js';
import { grouped } from '../grouped.js';
import { type Judge, shown, type Violation } from '../judgement.js';

/** A delayed job falls due by the clock of Redis, in whole milliseconds. */
const DUE_ROUNDING_MS = 2;

interface Started {
  readonly job: JobRecord;
  readonly first: Run;
}

/**
 * G2, order: within one bucket and one priority, jobs first start in the order in which they joined the line.
 *
 * Two requests that overlapped in time have no order, unless one batch held both; nor have two starts that came to the
 * referee within the arrival tolerance. A job that waited while something was broken may have been handed out in its turn to
 * a worker that never heard of it, and came to the referee only when it was taken back.
 */
export const judgeOrder: Judge = (file) => {
  const violations: Violation[] = [];
  let judged = 0;
  let excused = 0;
  for (const bucket of file.buckets) {
    const started = bucket.jobs.flatMap((job): Started[] => {
      const first = job.runs[0];
      return first === undefined ? [] : [{ job, first }];
    });
    for (const line of grouped(started, ({ job }) => job.admission.priority).values()) {
      judged += line.length;
      line.sort((a, b) => a.first.startAt - b.first.startAt);
      const overtaken = new Map([
        ...withinBatches(line, file.tolerances.arrivalMs),
        ...overtakings(line, file.tolerances.arrivalMs),
      ]);
      for (const [late, early] of overtaken) {
        if (mayHaveStartedUnseen(file, late)) {
          excused += 1;
          continue;
        }
        violations.push({
          guarantee: 'G2',
          bucket: bucket.name,
          at: early.first.startAt,
          sentence:
            `job ${early.job.id} started ${shown(late.first.startAt - early.first.startAt)} ms before job ${late.job.id}, ` +
            `which had joined the same line before it`,
        });
      }
    }
  }
  return {
    guarantee: 'G2',
    what: 'first starts in the order of admission',
    judged: judged - excused,
    excused,
    violations,
  };
};

function mayHaveStartedUnseen({ outages }: CaseFile, { job, first }: Started): boolean {
  return outages.some(({ from, to }) => from <= first.startAt && to >= job.joinLo);
}

/** Each job that was overtaken, with one that overtook it; `line` in the order of the starts. */
function overtakings(line: readonly Started[], arrivalMs: number): Map<Started, Started> {
  const overtaken = new Map<Started, Started>();
  let latest: Started | undefined;
  let next = 0;
  for (const each of line) {
    for (
      let other = line[next];
      other !== undefined && other.first.startAt < each.first.startAt - arrivalMs;
      other = line[next]
    ) {
      if (latest === undefined || other.job.joinLo > latest.job.joinLo) latest = other;
      next += 1;
    }
    if (latest !== undefined && latest.job.joinLo > each.job.joinHi + rounding(latest, each))
      overtaken.set(each, latest);
  }
  return overtaken;
}

function rounding(one: Started, other: Started): number {
  return one.job.admission.delayMs > 0 || other.job.admission.delayMs > 0 ? DUE_ROUNDING_MS : 0;
}

/** The same among the items of each batch, whose order is certain though they share their instants. */
function withinBatches(line: readonly Started[], arrivalMs: number): Map<Started, Started> {
  const overtaken = new Map<Started, Started>();
  for (const [request, items] of grouped(line, ({ job }) => job.admission.request)) {
    if (request === undefined) continue;
    const inOrder = [...items].sort((a, b) => a.job.admission.delayMs - b.job.admission.delayMs || place(a) - place(b));
    // From the back: the earliest start of all that stand behind an item.
    let earliest: Started | undefined;
    for (const item of inOrder.reverse()) {
      if (earliest !== undefined && earliest.first.startAt < item.first.startAt - arrivalMs)
        overtaken.set(item, earliest);
      if (earliest === undefined || item.first.startAt < earliest.first.startAt) earliest = item;
    }
  }
  return overtaken;
}

const place = ({ job }: Started): number => job.admission.index ?? 0;

import type { CaseFile, JobRecord } from '../case-file.js';
import { type Judge, shown, type Violation } from '../judgement.js';

/** `releaseAt` and `waitMs` are whole milliseconds each. */
const ROUNDING_MS = 2;

interface Reading {
  readonly job: JobRecord;
  /** What the clock of Redis must have shown when it answered, by the answer's own words. */
  readonly nowMs: number;
  /** The bounds of what separates the clock of Redis from the referee's. */
  readonly offsetLo: number;
  readonly offsetHi: number;
}

/**
 * G9, one clock: `releaseAt − waitMs` is the clock of Redis at the answer. So each answer bounds what separates that clock
 * from the referee's; the separation on which most answers agree is taken for it, and an answer that needs another one named a
 * wrong instant. Where the API reads the same wall clock, the `Date` of each answer must agree too.
 */
export const judgeWallClock: Judge = (file) => {
  const readings = [...file.jobs.values()].flatMap((job) => reading(job));
  const { lo, hi } = agreedOffset(readings);
  const violations = readings.flatMap((each): Violation[] => {
    const sentence = disagreement(each, lo, hi, file) ?? misdated(each, file);
    if (sentence === undefined) return [];
    const { bucket, admission, id } = each.job;
    return [{ guarantee: 'G9', bucket: bucket.name, at: admission.answeredAt, sentence: `job ${id}: ${sentence}` }];
  });
  return { guarantee: 'G9', what: 'instants against one clock', judged: readings.length, excused: 0, violations };
};

function reading(job: JobRecord): Reading[] {
  const { releaseAtMs, waitMs } = job.answer;
  if (releaseAtMs === undefined || waitMs === undefined) return [];
  const nowMs = releaseAtMs - waitMs;
  const { sentAt, answeredAt } = job.admission;
  return [{ job, nowMs, offsetLo: nowMs - answeredAt - ROUNDING_MS, offsetHi: nowMs - sentAt + ROUNDING_MS }];
}

/** The interval of offsets within the bounds of most readings. */
function agreedOffset(readings: readonly Reading[]): { lo: number; hi: number } {
  const edges = readings.flatMap(({ offsetLo, offsetHi }) => [
    { at: offsetLo, by: 1 },
    { at: offsetHi, by: -1 },
  ]);
  // Bounds that only touch agree: an opening edge comes before a closing one.
  edges.sort((a, b) => a.at - b.at || b.by - a.by);
  let agreeing = 0;
  let most = 0;
  let agreed = { lo: 0, hi: 0 };
  for (const [index, { at, by }] of edges.entries()) {
    agreeing += by;
    if (agreeing <= most) continue;
    most = agreeing;
    agreed = { lo: at, hi: edges[index + 1]?.at ?? at };
  }
  return agreed;
}

function disagreement({ offsetLo, offsetHi }: Reading, lo: number, hi: number, file: CaseFile): string | undefined {
  const off = offsetLo > hi ? offsetLo - hi : lo - offsetHi;
  if (off <= file.tolerances.earlyMs) return undefined;
  const direction = offsetLo > hi ? 'after' : 'before';
  return `its releaseAt lies ${shown(off)} ms ${direction} the end of its own waitMs, by the clock of all other answers`;
}

function misdated({ job, nowMs }: Reading, file: CaseFile): string | undefined {
  const { dateMs, sentAt, answeredAt } = job.admission;
  if (dateMs === undefined || file.contract.separateClocks === true) return undefined;
  // The Date header is cut to whole seconds, and written at some time between Redis' answer and ours.
  const ahead = nowMs - dateMs - 1000;
  const behind = dateMs - nowMs - (answeredAt - sentAt);
  const off = Math.max(ahead, behind);
  if (off <= file.tolerances.earlyMs) return undefined;
  return `its releaseAt is counted from an instant ${shown(off)} ms ${ahead > behind ? 'after' : 'before'} the Date of the answer`;
}

import type { BucketRecord, CaseFile, Run, TypeRecord } from '../case-file.js';
import { type Judge, shown, type Violation } from '../judgement.js';
import { StepCount } from '../step-count.js';
import { termsAt } from '../terms.js';

/** Every pair is compared up to so many buckets of a type; beyond, each with those 1, 2, 4, 8 … places further on. */
const ALL_PAIRS = 150;
const EPSILON = 1e-6;

interface Interval {
  readonly from: number;
  readonly to: number;
}

interface Contender {
  readonly bucket: BucketRecord;
  readonly ready: readonly Interval[];
  readonly weight: number;
  readonly largest: number;
}

/**
 * G3, fairness: between two buckets that stay ready, the cost served (as jobs start) differs by weight by no more than one
 * largest job of each: |Wi/wi − Wj/wj| ≤ ci_max/wi + cj_max/wj in every interval. In a type that is spread over several shards it
 * is one of the largest of all more for each slot of the type, which may be fetching.
 *
 * Only buckets without a rate of their own are certainly ready whenever something waits and their own cap is not reached;
 * their intervals follow from admissions and starts. Starts within the arrival tolerance of an edge count for the other side.
 */
export const judgeFairness: Judge = (file) => {
  const violations: Violation[] = [];
  let judged = 0;
  for (const type of file.types) {
    const contenders = type.buckets.flatMap((bucket) => contender(file, bucket));
    const unheard = spreadOf(type, contenders);
    for (const [one, other] of pairs(contenders)) {
      const shared = overlaps(one.ready, other.ready);
      if (shared.length === 0) continue;
      judged += 1;
      for (const interval of shared) {
        const found =
          disadvantage(file, one, other, interval, unheard) ?? disadvantage(file, other, one, interval, unheard);
        if (found === undefined) continue;
        violations.push(found);
        break;
      }
    }
  }
  return { guarantee: 'G3', what: 'pairs of buckets that stayed ready together', judged, excused: 0, violations };
};

/** What fetches that are under way at once in several shards may add, in units per weight. */
function spreadOf({ contract: { spread, slots } }: TypeRecord, contenders: readonly Contender[]): number {
  if (spread !== true) return 0;
  if (slots === undefined) throw new Error('a type that is spread says how many slots it has');
  return slots * Math.max(0, ...contenders.map(({ largest, weight }) => largest / weight));
}

function contender(file: CaseFile, bucket: BucketRecord): Contender[] {
  const terms = termsAt(bucket.pieces, -Infinity);
  if (terms.ratePerSecond !== Infinity || terms.jobRatePerSecond !== Infinity) return [];
  // A job handed back may hold its bucket, for how long only the handler knows.
  if (bucket.runs.some((run) => run.outcome === 'returned')) return [];
  const { arrivalMs, lateMs } = file.tolerances;
  const waiting = bucket.jobs.flatMap((job) => {
    const first = job.runs[0];
    if (first === undefined) return [];
    // A delayed job joins when a timer says so.
    const from = job.joinHi + (job.admission.delayMs > 0 ? lateMs : 0);
    return [{ from, to: first.startAt - arrivalMs }];
  });
  const running = new StepCount(
    bucket.runs.map((run) => ({ from: run.startAt - arrivalMs, to: (run.endAt ?? Infinity) + arrivalMs })),
  );
  const changedAt = bucket.pieces[1]?.from ?? Infinity;
  const ready = steady(
    new StepCount(waiting),
    (from, to) => to <= changedAt && running.highest(from, to) < terms.concurrency,
  );
  const largest = bucket.runs.reduce((most, run) => Math.max(most, run.cost), 0);
  return ready.length === 0 ? [] : [{ bucket, ready, weight: terms.weight, largest }];
}

/** The intervals in which the count is positive and `open` throughout, in order, joined where they touch. */
function steady(count: StepCount, open: (from: number, to: number) => boolean): Interval[] {
  const steps = [...count.steps()];
  const intervals: { from: number; to: number }[] = [];
  for (const [index, { from, level }] of steps.entries()) {
    const to = steps[index + 1]?.from ?? from;
    if (level <= 0 || to <= from || !open(from, to)) continue;
    const last = intervals.at(-1);
    if (last !== undefined && last.to === from) last.to = to;
    else intervals.push({ from, to });
  }
  return intervals;
}

function* pairs(contenders: readonly Contender[]): Generator<readonly [Contender, Contender]> {
  const all = contenders.length <= ALL_PAIRS;
  for (const [index, one] of contenders.entries()) {
    for (let step = 1; index + step < contenders.length; step = all ? step + 1 : step * 2) {
      const other = contenders[index + step];
      if (other !== undefined) yield [one, other];
    }
  }
}

function overlaps(some: readonly Interval[], others: readonly Interval[]): Interval[] {
  const shared: Interval[] = [];
  let next = 0;
  for (const { from, to } of some) {
    while ((others[next]?.to ?? Infinity) <= from) next += 1;
    for (let index = next; ; index += 1) {
      const other = others[index];
      if (other === undefined || other.from >= to) break;
      shared.push({ from: Math.max(from, other.from), to: Math.min(to, other.to) });
    }
  }
  return shared;
}

/** A stretch of the interval in which `rich` certainly got more than the bound beyond `poor`. */
function disadvantage(
  file: CaseFile,
  rich: Contender,
  poor: Contender,
  { from, to }: Interval,
  unheard: number,
): Violation | undefined {
  const bound = rich.largest / rich.weight + poor.largest / poor.weight + unheard;
  const { arrivalMs } = file.tolerances;
  const got = within(rich.bucket.runs, from + arrivalMs, to);
  const might = within(poor.bucket.runs, from, to + arrivalMs);
  // A stretch begins and ends with a start of the rich one; the poor one's starts count generously at both edges.
  let before = 0;
  let after = 0;
  let given = 0;
  let received = 0;
  let receivedBefore = 0;
  let best = Infinity;
  let bestAt = 0;
  for (const run of got) {
    for (
      let other = might[before];
      other !== undefined && other.startAt < run.startAt - arrivalMs;
      other = might[before]
    ) {
      receivedBefore += other.cost / poor.weight;
      before += 1;
    }
    if (given - receivedBefore < best) {
      best = given - receivedBefore;
      bestAt = run.startAt;
    }
    given += run.cost / rich.weight;
    for (
      let other = might[after];
      other !== undefined && other.startAt <= run.startAt + arrivalMs;
      other = might[after]
    ) {
      received += other.cost / poor.weight;
      after += 1;
    }
    const ahead = given - received - best;
    if (ahead <= bound + EPSILON) continue;
    return {
      guarantee: 'G3',
      bucket: poor.bucket.name,
      at: run.startAt,
      sentence:
        `within ${shown(run.startAt - bestAt)} ms in which both were ready, ${rich.bucket.name} was served ` +
        `${shown(ahead)} units per weight more than ${poor.bucket.name}, where ${shown(bound)} may be`,
    };
  }
  return undefined;
}

/** Runs in the order of their starts, from `from` to `to`. */
function within(runs: readonly Run[], from: number, to: number): Run[] {
  return runs.filter((run) => run.startAt >= from && run.startAt <= to);
}

import type { BucketRecord, CaseFile, Run, TypeRecord } from '../case-file.js';
import { grouped } from '../grouped.js';
import { seenEnds } from '../job-ends.js';
import { type Judge, shown, type Violation } from '../judgement.js';
import { INSTANT_MS } from '../occupancy.js';
import { type Span, StepCount } from '../step-count.js';
import { highestUntil } from '../terms.js';

/**
 * G7, concurrency: running jobs never exceed the bucket's cap, nor the type's, at any start and in any sample.
 *
 * A run is seen after its dispatch and ends before its settling, so what the referee counts is never too much and needs no
 * tolerance. A run that may have lost its lock counts for its first instant only: nobody told its end, or its job ran again
 * without the run having failed, or ended otherwise than by it.
 */
export const judgeConcurrency: Judge = (file) => {
  const violations: Violation[] = [];
  let judged = 0;
  for (const of of [...file.types, ...file.buckets]) {
    if (of.pieces.every(({ terms }) => terms.concurrency === Infinity)) continue;
    judged += of.runs.length;
    const found = overCap(file, of);
    if (found !== undefined) violations.push(found);
  }
  for (const { event, of } of file.samples) {
    // Lowering a cap ends nothing that runs: the highest that the cap has been counts.
    const cap = highestUntil(of.pieces, event.answeredAt, 'concurrency');
    judged += 1;
    if (event.running <= cap) continue;
    const sentence = `a sample found ${event.running} jobs running, where ${shown(cap)} may`;
    violations.push({ guarantee: 'G7', bucket: of.name, at: event.answeredAt, sentence });
  }
  return { guarantee: 'G7', what: 'starts and samples against the caps', judged, excused: 0, violations };
};

/** The start that exceeded the cap by most. */
function overCap(file: CaseFile, of: BucketRecord | TypeRecord): Violation | undefined {
  const runs = [...grouped(of.runs, ({ job }) => job).values()];
  const running = new StepCount(runs.flatMap((own) => own.map((run, i) => certainSpan(file, run, own[i + 1]))));
  let worst: Violation | undefined;
  let most = 0;
  for (const { startAt } of of.runs) {
    const count = running.at(startAt);
    const cap = capAt(of, startAt - file.tolerances.arrivalMs, startAt);
    if (count - cap <= most) continue;
    most = count - cap;
    const lasted = shown(running.fallsTo(cap, startAt) - startAt);
    const sentence = `${count} jobs ran at once for ${lasted} ms, where ${shown(cap)} may`;
    worst = { guarantee: 'G7', bucket: of.name, at: startAt, sentence };
  }
  return worst;
}

function certainSpan(file: CaseFile, run: Run, next: Run | undefined): Span {
  const instant = run.startAt + INSTANT_MS;
  const kept = run.endAt !== null && run.outcome !== 'gone' && endCounted(file, run, next);
  return { from: run.startAt, to: kept && run.endAt !== null ? Math.max(run.endAt, instant) : instant };
}

/**
 * Whether what became of the job is what this run came to: then nobody took it over before. `next` is the job's next run;
 * also of a job that no answer named, and of which nothing else is known.
 */
function endCounted(file: CaseFile, run: Run, next: Run | undefined): boolean {
  if (next !== undefined) return run.outcome === 'failed' && next.attempt > run.attempt;
  const job = file.jobs.get(run.job);
  const own = run.outcome === 'ok' ? 'completed' : 'failed';
  return job === undefined || seenEnds(job).every(({ state }) => state === own);
}

/** The highest cap in force at any instant from `from` to `to`. */
function capAt({ pieces }: BucketRecord | TypeRecord, from: number, to: number): number {
  let highest = 0;
  for (const [index, piece] of pieces.entries()) {
    const until = pieces[index + 1]?.from ?? Infinity;
    if (piece.from <= to && until > from) highest = Math.max(highest, piece.terms.concurrency);
  }
  return highest;
}

import { grouped } from '../referee/grouped.js';
import type { Verdict } from '../referee/verdict.js';
import type { Blow } from './blow.js';
import type { BookCheck } from './book-check.js';
import type { Ledger } from './ledger.js';
import { type PowerCut, type Taken, takenByCut } from './power-cut.js';
import type { ChaosOrder } from './run-chaos.js';
import type { Samples } from './sampler.js';
import type { SecondRuns, TakenUp } from './second-runs.js';

/** What one run came to, as the JSON says it. */
export interface ChaosSummary {
  readonly seed: number;
  readonly seconds: number;
  readonly durability: string;
  readonly cut: boolean;
  readonly passed: boolean;
  /** All zero in a run that passed. */
  readonly zeros: Readonly<Record<string, number>>;
  /** What cuts under `everysec` took of what was not synced yet, and how long before the cut the oldest of it was accepted. */
  readonly lostBeforeCuts: { readonly jobs: number; readonly oldestMs: number };
  readonly accepted: number;
  readonly answers: Readonly<Record<string, number>>;
  readonly longestAnswerMs: number;
  readonly samples: number;
  readonly starts: number;
  readonly blows: Readonly<Record<string, { readonly count: number; readonly p50Ms: number; readonly maxMs: number }>>;
  readonly ranAgain: { readonly jobs: number; readonly byFault: Readonly<Record<string, number>> };
  readonly ranAgainPerWorkerKill: number;
  /** What killed workers ran: how long until it ran again, without what had to wait behind more urgent jobs of its bucket. */
  readonly takenUpAgainMs: { readonly p50: number; readonly max: number };
  /** How many waited behind those, and the one that did for longest. */
  readonly takenUpBehindUrgent: { readonly jobs: number; readonly longest: TakenUp | undefined };
  /** What each cut took, how long before it that had begun which was not synced, and by how much the disk made a second longer. */
  readonly cuts: readonly { readonly bytes: number; readonly unsyncedMs: number; readonly slowMs: number }[];
  /** Sentences for people. */
  readonly faults: readonly string[];
}

export interface SummaryParts {
  readonly order: ChaosOrder;
  readonly blows: readonly Blow[];
  readonly ledger: Ledger;
  readonly books: BookCheck;
  readonly samples: Samples;
  readonly verdict: Verdict;
  readonly again: SecondRuns;
  readonly cuts: readonly PowerCut[];
}

export function summaryOf(parts: SummaryParts): ChaosSummary {
  const { order, blows, ledger, books, samples, verdict, again, cuts } = parts;
  const rollsBack = order.cut && order.durability === 'everysec';
  const taken = new Map(
    (rollsBack ? books.lost : []).flatMap((job): [string, Taken][] => {
      const byCut = takenByCut(job, cuts);
      return byCut === undefined ? [] : [[job.id, byCut]];
    }),
  );
  const tooOld = [...taken].filter(([, { isTooOld }]) => isTooOld);
  // The job that a rollback took is made anew under its key.
  const doubled = ledger.doubled.filter(({ first }) => !taken.has(first));
  // After a rollback what had ended may run again: the referee's word is not asked.
  const violations = rollsBack ? [] : verdict.violations;
  const zeros = {
    lost: books.lost.length - taken.size,
    lostOfBeforeTheLastSecond: tooOld.length,
    twoEnds: books.twoEnds.length,
    overCapSamples: samples.overCap.length,
    overDepthSamples: samples.overDepth.length,
    envelope: rollsBack ? 0 : books.envelope.length,
    runningAtTheEnd: books.running.length,
    waitingAtTheEnd: books.waiting.length,
    violations: violations.length,
    doubledKeys: doubled.length,
    faultsAtTheDoor: ledger.faults.length,
  };
  const faults = [
    ...ledger.faults,
    ...doubled.map(({ first, second }) => `one idempotency key came to two jobs: ${first} and ${second}`),
    ...books.envelope,
    ...violations.map(({ guarantee, bucket, sentence }) => `${guarantee} ${bucket}: ${sentence}`),
    ...books.lost.filter(({ id }) => !taken.has(id)).map(({ id }) => `lost: ${id}`),
    ...tooOld.map(([id, { ageMs }]) => `lost, accepted ${Math.round(ageMs)} ms before the cut: ${id}`),
    ...books.twoEnds.map((id) => `two ends: ${id}`),
    ...samples.overCap.slice(0, 10),
    ...samples.overDepth.slice(0, 10),
    ...books.running.map((what) => `still running: ${what}`),
    ...books.waiting.map((what) => `still waiting: ${what}`),
  ];
  const workerKills = blows.filter(({ fault }) => fault === 'worker killed').length;
  return {
    ...{ seed: order.seed, seconds: order.seconds, durability: order.durability, cut: order.cut },
    passed: Object.values(zeros).every((count) => count === 0) && ledger.accepted.size > 0,
    zeros,
    lostBeforeCuts: {
      jobs: taken.size,
      oldestMs: Math.round(Math.max(0, ...[...taken.values()].map(({ ageMs }) => ageMs))),
    },
    accepted: ledger.accepted.size,
    answers: Object.fromEntries([...ledger.statuses].map(([status, count]) => [String(status), count])),
    longestAnswerMs: Math.round(ledger.longestAnswerMs),
    samples: samples.taken,
    starts: verdict.seen.starts,
    blows: recoveries(blows),
    ranAgain: { jobs: again.jobs, byFault: again.byFault },
    ranAgainPerWorkerKill: workerKills === 0 ? 0 : (again.byFault['worker killed'] ?? 0) / workerKills,
    ...takenUpAgain(again.takenUp),
    cuts: cuts.map(({ bytes, safeAt, deadAt, slowMs }) => ({
      ...{ bytes, unsyncedMs: Math.round(deadAt - safeAt), slowMs: Math.round(slowMs) },
    })),
    faults,
  };
}

function recoveries(blows: readonly Blow[]): ChaosSummary['blows'] {
  const byFault = grouped(blows, ({ fault }) => fault);
  return Object.fromEntries(
    [...byFault].map(([fault, all]) => {
      const times = all.map(({ recoveryMs }) => recoveryMs);
      return [fault, { count: all.length, p50Ms: middle(times), maxMs: Math.round(Math.max(...times)) }];
    }),
  );
}

function takenUpAgain(all: readonly TakenUp[]): Pick<ChaosSummary, 'takenUpAgainMs' | 'takenUpBehindUrgent'> {
  const behind = all.filter(({ urgentBefore }) => urgentBefore > 0);
  const free = all.filter(({ urgentBefore }) => urgentBefore === 0).map(({ ms }) => ms);
  return {
    takenUpAgainMs: { p50: middle(free), max: Math.round(Math.max(0, ...free)) },
    takenUpBehindUrgent: { jobs: behind.length, longest: behind.toSorted((a, b) => b.ms - a.ms)[0] },
  };
}

function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0);
}

/** The summary in lines for a terminal. */
export function linesOf(summary: ChaosSummary): string[] {
  const { zeros, blows, ranAgain, cuts, lostBeforeCuts, takenUpBehindUrgent: behind } = summary;
  return [
    '',
    `seed ${summary.seed}, ${summary.seconds} s, durability ${summary.durability}${summary.cut ? ', cut back to what was synced' : ''}`,
    `${summary.accepted} jobs accepted, ${summary.starts} starts, ${summary.samples} samples; answers ${JSON.stringify(summary.answers)}; the longest took ${summary.longestAnswerMs} ms`,
    ...Object.entries(zeros).map(([what, count]) => `${count === 0 ? '  ok ' : ' BAD '} ${what}: ${count}`),
    ...(lostBeforeCuts.jobs > 0
      ? [
          `      cuts took ${lostBeforeCuts.jobs} accepted jobs, the oldest accepted ${lostBeforeCuts.oldestMs} ms before`,
        ]
      : []),
    ...summary.faults.slice(0, 40).map((sentence) => `      ${sentence}`),
    'recovery                        blows    p50 ms    max ms',
    ...Object.entries(blows).map(
      ([fault, { count, p50Ms, maxMs }]) =>
        `  ${fault.padEnd(28)} ${String(count).padStart(6)} ${String(p50Ms).padStart(9)} ${String(maxMs).padStart(9)}`,
    ),
    `${ranAgain.jobs} jobs ran again unasked: ${JSON.stringify(ranAgain.byFault)}; ${summary.ranAgainPerWorkerKill.toFixed(2)} for each worker killed`,
    ...(summary.takenUpAgainMs.max > 0
      ? [
          `what killed workers ran was taken up after ${summary.takenUpAgainMs.p50} ms (p50), ${summary.takenUpAgainMs.max} ms (max)`,
        ]
      : []),
    ...(behind.longest === undefined
      ? []
      : [`  ${behind.jobs} more waited behind more urgent jobs of their buckets: ${JSON.stringify(behind.longest)}`]),
    ...cuts.map(
      ({ bytes, unsyncedMs }) => `a cut took ${bytes} bytes; safe was what was answered ${unsyncedMs} ms before`,
    ),
    summary.passed ? 'PASSED' : 'FAILED',
  ];
}

import type { Run } from '../case-file.js';
import { type Judge, shown, type Violation } from '../judgement.js';
import type { Piece } from '../terms.js';
import { type Leak, type Passage, worstWindow } from './worst-window.js';

/**
 * G1, the envelope: in every window between two starts the cost started is at most
 * `burst − 1 + c_max + ∫rate dt + rate·slack`, for every bucket, its job rate, and the type's capacity.
 *
 * c_max is the largest cost that can have been the window's last: a bucket starts a job, whatever it costs, when its level
 * is at most `burst − 1`, so only the last start may overshoot. What a handler handed back (`returned`) was not charged.
 */
export const judgeEnvelope: Judge = (file) => {
  const { arrivalMs } = file.tolerances;
  const violations: Violation[] = [];
  let judged = 0;
  const hold = (name: string, what: string, passages: readonly Passage[], leaks: readonly Leak[]) => {
    if (leaks.every((leak) => leak.ratePerSecond === Infinity)) return;
    judged += passages.length;
    const worst = worstWindow(passages, leaks, arrivalMs);
    if (worst === undefined) return;
    const more = worst.breaches > 1 ? `; ${worst.breaches} starts came too soon` : '';
    violations.push({
      guarantee: 'G1',
      bucket: name,
      at: worst.to,
      sentence:
        `${shown(worst.amount)} ${what} started within ${shown(worst.to - worst.from)} ms, where ` +
        `${shown(worst.allowed)} may (slack and tolerance included)${more}`,
    });
  };
  for (const type of file.types) {
    for (const bucket of type.buckets) {
      const charged = bucket.runs.filter((run) => run.outcome !== 'returned');
      hold(bucket.name, 'units', byCost(charged), leaks(bucket.pieces, 'ratePerSecond'));
      hold(bucket.name, 'jobs', byJob(charged), leaks(bucket.pieces, 'jobRatePerSecond'));
    }
    const charged = type.runs.filter((run) => run.outcome !== 'returned');
    hold(type.name, 'units', byCost(charged), leaks(type.pieces, 'ratePerSecond'));
  }
  return { guarantee: 'G1', what: 'starts against every window before them', judged, excused: 0, violations };
};

const byCost = (runs: readonly Run[]): Passage[] => runs.map((run) => ({ at: run.startAt, amount: run.cost }));
const byJob = (runs: readonly Run[]): Passage[] => runs.map((run) => ({ at: run.startAt, amount: 1 }));

function leaks(pieces: readonly Piece[], rate: 'ratePerSecond' | 'jobRatePerSecond'): Leak[] {
  return pieces.map(({ from, terms }) => ({
    from,
    ratePerSecond: terms[rate],
    burst: rate === 'ratePerSecond' ? terms.burst : 1,
    slackMs: terms.slackMs,
  }));
}

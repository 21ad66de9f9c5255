import type { Fairness } from './fairness.js';

/** What the demo found out about the run. */
export interface Findings {
  /** Seconds during which the tenants sent. */
  readonly seconds: number;
  /** `undefined` when there was no instant at which all tenants had something waiting. */
  readonly fairness: Fairness | undefined;
  /** Pages that were read to the end. */
  readonly pagesRead: number;
  /** Part of the true words that were recognised, over all pages read. */
  readonly wordAccuracy: number;
  /** Why jobs failed, one entry a job. */
  readonly failures: readonly string[];
}

/** A tenant may have been served this much more or less than it deserved, as a part of that. */
export const TOLERANCE = 0.1;
const LEAST_ACCURACY = 0.97;
/** Below this the workers were not the scarce thing, and shares of them mean nothing. */
const LEAST_SLOTS_BUSY = 0.9;
/** All tenants have to be backlogged for this part of the run. */
const LEAST_BACKLOGGED = 0.5;

/** What was off, one sentence each; empty when all is well. */
export function faults(findings: Findings): string[] {
  const { fairness } = findings;
  return [
    ...(fairness === undefined
      ? ['At no time did all tenants have jobs waiting.']
      : fairnessFaults(fairness, findings.seconds)),
    ...(findings.pagesRead === 0 ? ['No page was read.'] : []),
    ...(findings.pagesRead > 0 && findings.wordAccuracy < LEAST_ACCURACY
      ? [`${part(findings.wordAccuracy)} of the words were right; at least ${part(LEAST_ACCURACY)} should be.`]
      : []),
    ...(findings.failures.length > 0
      ? [`${findings.failures.length} jobs failed; the first: ${findings.failures[0]}`]
      : []),
  ];
}

function fairnessFaults(fairness: Fairness, sendingSeconds: number): string[] {
  const found: string[] = [];
  if (fairness.seconds < LEAST_BACKLOGGED * sendingSeconds) {
    const { seconds } = fairness;
    found.push(`All tenants had jobs waiting for ${seconds.toFixed(1)} s of ${sendingSeconds} s: too short to judge.`);
  }
  if (fairness.slotsBusy < LEAST_SLOTS_BUSY) {
    found.push(`The workers ran jobs for ${part(fairness.slotsBusy)} of the time although jobs were waiting.`);
  }
  for (const { tenant, servedPerSecond, deservedPerSecond, offBy } of fairness.tenants) {
    if (Math.abs(offBy) <= TOLERANCE) continue;
    const [served, deserved] = [servedPerSecond.toFixed(2), deservedPerSecond.toFixed(2)];
    found.push(`${tenant} was served ${served}/s and deserved ${deserved}/s: more than ${part(TOLERANCE)} off.`);
  }
  return found;
}

function part(value: number): string {
  return `${(100 * value).toFixed(1)} %`;
}

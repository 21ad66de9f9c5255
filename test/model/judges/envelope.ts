import type { BucketTerms } from '../../../src/model/scheduler/terms.js';

/** A start of one bucket. Microseconds. */
export interface Start {
  readonly atUs: number;
  readonly cost: number;
}

/** Terms that hold from an instant on; the first of a list holds from the beginning. */
export interface Epoch {
  readonly fromUs: number;
  readonly terms: BucketTerms;
}

/** Costs are sums of doubles. */
const TOLERANCE = 1e-6;

/**
 * G1, by cost: in every window of t seconds the cost that starts is at most `burst − 1 + c_max + rate · (t + slack)`, with
 * ∫rate dt where the rate was changed. Answers by how much the worst window exceeds that; at most 0 when none does, and
 * -Infinity where a rate is unlimited, which nothing exceeds.
 *
 * Of all windows only those from one start to another matter. With C the cost up to a start and F = ∫rate dt, a window
 * exceeds its bound when (C − F) at its end is more than (C − F) before its beginning and the bound, so that one pass
 * with the least of the latter finds the worst.
 */
export function excessOverEnvelope(starts: readonly Start[], epochs: readonly Epoch[]): number {
  if (epochs.some(({ terms }) => terms.pace.emissionUs === 0)) return -Infinity;
  const allowed = allowanceOf(epochs, ({ pace }) => pace.emissionUs);
  const burst = Math.max(...epochs.map(({ terms }) => terms.pace.burst));
  const slack = Math.max(...epochs.map(({ terms }) => terms.pace.slackUs / terms.pace.emissionUs));
  const costMax = Math.max(0, ...starts.map(({ cost }) => cost));
  return worstWindow(starts, allowed) - (burst - 1 + costMax + slack) - TOLERANCE;
}

/** G1, by jobs: likewise with `jobRate` and jobs that are evenly spaced. */
export function excessOverJobRate(starts: readonly Start[], epochs: readonly Epoch[]): number {
  if (epochs.some(({ terms }) => terms.pace.jobEmissionUs === 0)) return -Infinity;
  const allowed = allowanceOf(epochs, ({ pace }) => pace.jobEmissionUs);
  const slack = Math.max(...epochs.map(({ terms }) => terms.pace.slackUs / terms.pace.jobEmissionUs));
  const jobs = starts.map(({ atUs }) => ({ atUs, cost: 1 }));
  return worstWindow(jobs, allowed) - (1 + slack) - TOLERANCE;
}

function worstWindow(starts: readonly Start[], allowed: (us: number) => number): number {
  let [started, least, worst] = [0, Infinity, 0];
  for (const { atUs, cost } of starts) {
    least = Math.min(least, started - allowed(atUs));
    started += cost;
    worst = Math.max(worst, started - allowed(atUs) - least);
  }
  return worst;
}

/** ∫rate dt from the beginning to an instant. */
function allowanceOf(epochs: readonly Epoch[], intervalUs: (terms: BucketTerms) => number): (us: number) => number {
  return (us) =>
    epochs.reduce((sum, { fromUs, terms }, i) => {
      const untilUs = Math.min(us, epochs[i + 1]?.fromUs ?? Infinity);
      return sum + Math.max(0, untilUs - fromUs) / intervalUs(terms);
    }, 0);
}

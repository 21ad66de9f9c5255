import type { Moment } from '../simulation.js';

const TOLERANCE = 1e-6;

/**
 * G3: for any two buckets that stay ready over an interval, the cost served satisfies
 * `|Wᵢ/wᵢ − Wⱼ/wⱼ| ≤ cᵢ_max/wᵢ + cⱼ_max/wⱼ`, counted as jobs start. Where no rate and no cap holds anybody back, a bucket is
 * ready while something of it waits. Answers by how much the worst pair exceeds that; at most 0 when none does.
 */
export function excessOverFairness(moments: readonly Moment[], weights: Readonly<Record<string, number>>): number {
  const tenants = Object.keys(weights);
  const costMax = Object.fromEntries(
    tenants.map((tenant) => [
      tenant,
      Math.max(0, ...moments.map(({ start }) => (start?.tenant === tenant ? start.cost : 0))),
    ]),
  );
  const share = (tenant: string): number => (costMax[tenant] ?? 0) / (weights[tenant] ?? 1);
  let worst = -Infinity;
  for (const [i, one] of tenants.entries()) {
    for (const other of tenants.slice(i + 1)) {
      const spread = widestSpread(moments, [one, other], weights);
      worst = Math.max(worst, spread - share(one) - share(other) - TOLERANCE);
    }
  }
  return worst;
}

/** The most by which `Wᵢ/wᵢ − Wⱼ/wⱼ` moves within a time in which both are ready. */
function widestSpread(
  moments: readonly Moment[],
  [one, other]: readonly [string, string],
  weights: Readonly<Record<string, number>>,
): number {
  let [ahead, low, high, widest, bothReady] = [0, 0, 0, 0, false];
  for (const { start, backlogged } of moments) {
    if (start?.tenant === one) ahead += start.cost / (weights[one] ?? 1);
    if (start?.tenant === other) ahead -= start.cost / (weights[other] ?? 1);
    if (bothReady) {
      [low, high] = [Math.min(low, ahead), Math.max(high, ahead)];
      widest = Math.max(widest, high - low);
    }
    const ready = backlogged.has(one) && backlogged.has(other);
    if (ready && !bothReady) [low, high] = [ahead, ahead];
    bothReady = ready;
  }
  return widest;
}

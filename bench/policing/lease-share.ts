import type { LeaseMember, LeaseMemberOptions } from './lease-member.js';

/** Four processes share one limit; the first has 90 % of the load, which is twice what the limit lets pass. */
export const SHARES = [0.9, 1 / 30, 1 / 30, 1 / 30] as const;
const LOAD = 2;
/** Long enough for four processes to start in. */
const START_IN_MS = 5000;

const TERMS = { ratePerSecond: 200, burst: 200, leaseMs: 1000 };

export interface LeaseShare {
  readonly offered: number;
  readonly passed: number;
  /** What a single bucket would have let pass in that time: burst + rate · t. */
  readonly law: number;
  /** Of the process with most of the load: what passed, as a part of rate · t. */
  readonly busyShare: number;
  /** By how many units the worst of all windows exceeds burst + rate · t; below 0 when none does. */
  readonly worstExcess: number;
}

/** Runs the four processes side by side and judges what they let pass together. */
export async function benchLeaseShare(
  seconds: number,
  start: (options: LeaseMemberOptions) => Promise<LeaseMember>,
): Promise<LeaseShare> {
  const startAt = Date.now() + START_IN_MS;
  const members = await Promise.all(
    SHARES.map((share) => {
      const offeredPerSecond = share * LOAD * TERMS.ratePerSecond;
      return start({ ...TERMS, offeredPerSecond, seconds, startAt });
    }),
  );
  const passes = members.flatMap(({ passedAtMs }) => passedAtMs).sort((a, b) => a - b);
  const { ratePerSecond, burst } = TERMS;
  return {
    offered: members.reduce((all, { offered }) => all + offered, 0),
    passed: passes.length,
    law: burst + ratePerSecond * (((passes.at(-1) ?? 0) - (passes[0] ?? 0)) / 1000),
    busyShare: (members[0]?.passedAtMs.length ?? 0) / (ratePerSecond * seconds),
    worstExcess: worstExcess(passes, ratePerSecond, burst),
  };
}

/** The greatest (number of passes from i to j) − burst − rate · (tⱼ − tᵢ): one walk, with the best beginning so far. */
function worstExcess(passes: readonly number[], ratePerSecond: number, burst: number): number {
  let [best, worst] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  passes.forEach((atMs, i) => {
    const leaked = (ratePerSecond * atMs) / 1000;
    best = Math.max(best, leaked - i);
    worst = Math.max(worst, i + 1 - leaked + best - burst);
  });
  return worst;
}

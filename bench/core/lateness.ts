import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_PROFILE } from '../../dist/src/model/profile.js';
import { startOwnPool } from '../own-pool.js';
import { quantile } from '../statistics.js';

/** Starts against the ideal schedule: tenants at one job a second each, their phases spread, slots free. Milliseconds. */
export interface Lateness {
  readonly starts: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly earliestMs: number;
  /** Largest deviation of a tenant's rate over the whole time, in parts of 1. */
  readonly worstRateError: number;
}

export async function benchLateness(
  socketPath: string,
  { tenants, seconds }: { tenants: number; seconds: number },
): Promise<Lateness> {
  const startsOf = new Map<string, number[]>();
  const bench = await startOwnPool(socketPath, {
    profile: { ...DEFAULT_PROFILE, ratePerSecond: 1, depth: 10_000 },
    slots: 100,
    keepResults: { ageMs: 60_000, count: 10 },
    run: ({ tenant }) => {
      startsOf.get(tenant)?.push(performance.now());
      return null;
    },
  });
  await bench.pool.start();
  for (let i = 0; i < tenants; i += 1) {
    startsOf.set(`t${i}`, []);
    await bench.admit(
      `t${i}`,
      Array.from({ length: seconds + 2 }, () => ({})),
    );
    await delay(1000 / tenants);
  }
  await delay(seconds * 1000);
  await bench.stop();
  return judge([...startsOf.values()].map((starts) => starts.slice(0, seconds)));
}

/** The k-th start of a tenant belongs k seconds after its first. */
function judge(tenants: readonly (readonly number[])[]): Lateness {
  const late = tenants.flatMap((starts) => starts.slice(1).map((at, k) => at - (starts[0] ?? 0) - (k + 1) * 1000));
  // The first start of a tenant may itself be late: the ideal schedule is the one that the earliest of its starts keeps.
  const ideal = tenants.map((starts) => Math.min(...starts.map((at, k) => at - k * 1000)));
  const lateness = tenants.flatMap((starts, i) => starts.map((at, k) => at - k * 1000 - (ideal[i] ?? 0)));
  const errors = tenants.map((starts) => {
    const span = ((starts.at(-1) ?? 0) - (starts[0] ?? 0)) / 1000;
    return Math.abs((starts.length - 1) / span - 1);
  });
  return {
    starts: lateness.length,
    p50Ms: quantile(lateness, 0.5),
    p99Ms: quantile(lateness, 0.99),
    earliestMs: Math.min(...late),
    worstRateError: Math.max(...errors),
  };
}

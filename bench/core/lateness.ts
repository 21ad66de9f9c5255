import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { DEFAULT_CAPACITY, DEFAULT_PROFILE } from '../../dist/src/model/profile.js';
import { openConnection, Subscriber, untilReady } from '../../dist/src/redis/connection.js';
import { newJobId } from '../../dist/src/shaping/job-id.js';
import { RedisShaping } from '../../dist/src/shaping/redis-shaping.js';
import { WorkSource } from '../../dist/src/shaping/work-source.js';
import { Pool } from '../../dist/workers/pool.js';
import { Runner } from '../../dist/workers/runner.js';
import { quantile } from './statistics.js';

const TYPE = 'paced';

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
  const open = (name: string): Redis => openConnection({ socketPath }, { name, deadlineMs: 60_000 });
  const [redis, messages] = [open('paced'), open('paced-wake')];
  await untilReady(redis);
  await redis.flushall();
  const type = { capacity: DEFAULT_CAPACITY, keepResults: { ageMs: 60_000, count: 10 }, attempts: 1 };
  const profile = { ...DEFAULT_PROFILE, ratePerSecond: 1, depth: 10_000 };
  const shaping = new RedisShaping(redis, { type: () => type, typeNames: () => [TYPE], profile: () => profile });
  const startsOf = new Map<string, number[]>();
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const plan = {
    handler: {
      run: async ({ tenant }: { tenant: string }) => {
        startsOf.get(tenant)?.push(performance.now());
        return null;
      },
    },
    ...{ timeoutMs: 60_000, attempts: 1, options: {}, maxResultBytes: 1_000_000, abandonAfterMs: 1000 },
    backoff: { type: 'fixed', delayMs: 1000, maxMs: 1000 } as const,
  };
  const runner = new Runner(
    new WorkSource(redis, TYPE, type, { worker: 'bench', lockMs: 30_000 }),
    100,
    plan,
    () => silent,
  );
  const pool = new Pool(redis, new Subscriber(messages), [runner], {
    lockMs: 30_000,
    stalledIntervalMs: 30_000,
    maxStalled: 1,
  });
  await pool.start();
  for (let i = 0; i < tenants; i += 1) {
    startsOf.set(`t${i}`, []);
    const jobs = Array.from({ length: seconds + 2 }, () => ({
      id: newJobId(TYPE),
      data: '{}',
      priority: 4,
      delayMs: 0,
      cost: 1,
    }));
    await shaping.admit(TYPE, `t${i}`, jobs);
    await delay(1000 / tenants);
  }
  await delay(seconds * 1000);
  await pool.stop(1000);
  for (const connection of [redis, messages]) connection.disconnect();
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

import { beforeAll, describe, expect, test } from 'vitest';
import { Random } from '../../bench/fairness/random.js';
import type { Profile } from '../../src/model/profile.js';
import {
  type ServedJob,
  type ServiceArrival,
  type ServiceJob,
  simulateService,
} from '../support/service/simulate-service.js';
import { type Fault, making } from './making.js';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';

const redis = redisForTests();

const SECOND = 1_000_000;
const SLOTS = 300;
const SERVICE_US = SECOND;
const RATE = 4;
const INTERVAL_US = SECOND / RATE;
const FLOOD_JOBS = 10_000;
const CALL = 500;
/** Workers are told of an instant in whole microseconds, rounded up. */
const ROUNDING_US = 1;

interface Flood {
  readonly title: string;
  readonly profile: Partial<Profile>;
  readonly job?: (i: number) => ServiceJob;
}

const AT_ITS_CAP = { ratePerSecond: Infinity, concurrency: SLOTS - 50 };
const AT_ITS_RATE: Flood = { title: 'at a rate of its own', profile: { ratePerSecond: 200 } };

/** Floods that leave slots free, by their rate or by their concurrency. */
const FLOODS: readonly Flood[] = [
  AT_ITS_RATE,
  { title: 'without a rate, at its concurrency', profile: AT_ITS_CAP },
  { title: 'that was delayed until one instant', profile: AT_ITS_CAP, job: () => ({ delayMs: 2000 }) },
  {
    title: 'of every priority and cost, with a thousand times the weight',
    profile: { ratePerSecond: 800, weight: 1000 },
    job: (i) => ({ priority: i % 10, cost: 1 + (i % 7) }),
  },
  { title: 'that paid at the door', profile: { ...AT_ITS_CAP, mode: 'police', ratePerSecond: 1e5, burst: 1e5 } },
];

/** One tenant with jobs one by one, in heaps and after pauses in which its bucket is empty. */
function steadyArrivals(): readonly ServiceArrival[] {
  const random = new Random(3);
  let atUs = 0;
  return [1, 3, 1, 4, 1, 2].map((heap) => {
    atUs += Math.ceil(random.exponential(0.8 * SECOND));
    return { atUs, tenant: 'steady', jobs: Array.from({ length: heap }, () => ({})) };
  });
}

/** The jobs of the steady tenant, without a flood or with one that comes from the beginning on. */
async function steadyJobs(shard: ScriptShard, flood?: Flood): Promise<readonly ServedJob[]> {
  const calls = flood ? FLOOD_JOBS / CALL : 0;
  const job = flood?.job ?? (() => ({}));
  const floods = Array.from({ length: calls }, (_, call): ServiceArrival => {
    const jobs = Array.from({ length: CALL }, (_, i) => job(call * CALL + i));
    return { atUs: call * 100_000, tenant: 'flood', jobs };
  });
  const steady = steadyArrivals();
  const jobs = await simulateService(shard, {
    profiles: { steady: { ratePerSecond: RATE, depth: 1e6 }, flood: { depth: 1e6, ...flood?.profile } },
    arrivals: [...steady, ...floods].sort((one, other) => one.atUs - other.atUs),
    slots: SLOTS,
    serviceUs: () => SERVICE_US,
    untilUs: (steady.at(-1)?.atUs ?? 0) + 6 * INTERVAL_US,
  });
  return jobs.filter(({ tenant }) => tenant === 'steady');
}

const startsOf = (jobs: readonly ServedJob[]) => jobs.map(({ startedAtUs = Infinity }) => startedAtUs);

/** Where an evenly spaced bucket lets each job start: as it comes, or an interval after the one before it. */
function idealStarts(jobs: readonly ServedJob[]): readonly number[] {
  let freeAtUs = 0;
  return jobs.map(({ arrivedAtUs }) => {
    const startsAtUs = Math.max(arrivedAtUs, freeAtUs);
    freeAtUs = startsAtUs + INTERVAL_US;
    return startsAtUs;
  });
}

function furthest(one: readonly number[], other: readonly number[]): number {
  return Math.max(...one.map((us, i) => Math.abs(us - (other[i] ?? Infinity))));
}

let alone: readonly ServedJob[];
beforeAll(async () => {
  alone = await steadyJobs(redis.shard());
});

describe(`beside ${FLOOD_JOBS} jobs of another tenant, while slots are free, no start of a tenant moves`, {
  timeout: 300_000,
}, () => {
  test.each(FLOODS)('a flood $title', async (flood) => {
    const flooded = await steadyJobs(redis.shard(), flood);
    expect(flooded).toHaveLength(12);
    expect(furthest(startsOf(flooded), startsOf(alone))).toBeLessThanOrEqual(ROUNDING_US);
    const promised = flooded.map(({ promisedAtUs }) => promisedAtUs);
    expect(furthest(startsOf(flooded), promised)).toBeLessThanOrEqual(ROUNDING_US);
  });

  test('they are those of an ideal bucket', () => {
    expect(furthest(startsOf(alone), idealStarts(alone))).toBeLessThanOrEqual(ROUNDING_US);
  });
});

describe('it is noticed', { timeout: 300_000 }, () => {
  test('when all tenants share one rate', async () => {
    const fault: Fault = [['+ cost * ty.T\n', '+ cost * b.T\n']];
    const flooded = await steadyJobs(redis.shard(making(fault)), AT_ITS_RATE);
    expect(furthest(startsOf(flooded), startsOf(alone))).toBeGreaterThan(ROUNDING_US);
  });

  test('when a bucket has credit for idle time', async () => {
    const fault: Fault = [['    b.tat = math.max(b.tat, now)\n', '']];
    const jobs = await steadyJobs(redis.shard(making(fault)));
    expect(furthest(startsOf(jobs), idealStarts(jobs))).toBeGreaterThan(ROUNDING_US);
  });
});

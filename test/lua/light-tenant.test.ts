import { describe, expect, test } from 'vitest';
import { Random } from '../../bench/fairness/random.js';
import { quantile } from '../../bench/statistics.js';
import { type ServiceArrival, simulateService } from '../support/service/simulate-service.js';
import { type Fault, making } from './making.js';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';

const redis = redisForTests();

const SLOTS = 8;
const SERVICE_US = 50_000;
/** A thirtieth of what the slots can do. */
const LIGHT = { jobs: 150, everyUs: (30 * SERVICE_US) / SLOTS };
/** A hundred times as many jobs, in heaps: three times what the slots can do. */
const FLOOD = { jobs: LIGHT.jobs * 100, heap: 100 };
const UNLIMITED = { ratePerSecond: Infinity, depth: 1e6 };

/** How long each job of the light tenant waits, in microseconds, alone or beside a flood that was there before it. */
async function waits(shard: ScriptShard, flooded: boolean): Promise<readonly number[]> {
  const random = new Random(7);
  const light: ServiceArrival[] = [];
  for (let atUs = 20 * SERVICE_US; light.length < LIGHT.jobs; atUs += Math.ceil(random.exponential(LIGHT.everyUs))) {
    light.push({ atUs, tenant: 'light', jobs: [{}] });
  }
  const untilUs = (light.at(-1)?.atUs ?? 0) + 10 * SERVICE_US;
  const heaps = flooded ? FLOOD.jobs / FLOOD.heap : 0;
  const heap = Array.from({ length: FLOOD.heap }, () => ({}));
  const flood = Array.from({ length: heaps }, (_, i): ServiceArrival => {
    return { atUs: Math.floor((i * untilUs) / heaps), tenant: 'flood', jobs: heap };
  });
  const times = new Random(8);
  const jobs = await simulateService(shard, {
    profiles: { light: UNLIMITED, flood: UNLIMITED },
    arrivals: [...light, ...flood].sort((one, other) => one.atUs - other.atUs),
    slots: SLOTS,
    serviceUs: () => Math.ceil(times.lognormal(SERVICE_US, 1)),
    untilUs,
  });
  return jobs.flatMap(({ tenant, arrivedAtUs, startedAtUs = Infinity }) =>
    tenant === 'light' ? [startedAtUs - arrivedAtUs] : [],
  );
}

async function p99(newShard: () => ScriptShard): Promise<{ alone: number; flooded: number }> {
  return {
    alone: quantile(await waits(newShard(), false), 0.99),
    flooded: quantile(await waits(newShard(), true), 0.99),
  };
}

describe('a light tenant beside a flood a hundred times its size', { timeout: 300_000 }, () => {
  test('waits, at the 99th percentile, at most 1.1 times as long as alone and one service time', async () => {
    const { alone, flooded } = await p99(() => redis.shard());
    expect(flooded).toBeLessThanOrEqual(1.1 * alone + SERVICE_US);
  });

  test.each<[title: string, fault: Fault]>([
    [
      'buckets that keep their turn until they are empty',
      [['if b.where ~= READY or b.was_served then', 'if b.where ~= READY then']],
    ],
  ])('would wait longer behind %s', async (_, fault) => {
    const { alone, flooded } = await p99(() => redis.shard(making(fault)));
    expect(flooded).toBeGreaterThan(1.1 * alone + SERVICE_US);
  });
});

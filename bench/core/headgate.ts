import { once } from 'node:events';
import type { Redis } from 'ioredis';
import { DEFAULT_CAPACITY, DEFAULT_PROFILE } from '../../dist/src/model/profile.js';
import { openConnection, Subscriber, untilReady } from '../../dist/src/redis/connection.js';
import { newJobId } from '../../dist/src/shaping/job-id.js';
import { RedisShaping } from '../../dist/src/shaping/redis-shaping.js';
import type { Settings } from '../../dist/src/shaping/settings.js';
import { WorkSource } from '../../dist/src/shaping/work-source.js';
import { Pool } from '../../dist/workers/pool.js';
import { Runner } from '../../dist/workers/runner.js';
import { type Cost, measure } from './probe.js';

const TYPE = 'noop';
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** No-op jobs through the pool: `jobs` of them spread evenly over `tenants`, `slots` at once, in this process. */
export async function benchHeadgate(
  socketPath: string,
  { tenants, jobs, slots }: { tenants: number; jobs: number; slots: number },
): Promise<{ admission: Cost; dispatch: Cost }> {
  const open = (name: string): Redis => openConnection({ socketPath }, { name, deadlineMs: 60_000 });
  const redis = open('bench');
  const messages = open('bench-wake');
  await untilReady(redis);
  await redis.flushall();
  const type = { capacity: DEFAULT_CAPACITY, keepResults: { ageMs: 3_600_000, count: 1000 }, attempts: 1 };
  const settings: Settings = {
    type: () => type,
    typeNames: () => [TYPE],
    profile: () => ({ ...DEFAULT_PROFILE, ratePerSecond: Number.POSITIVE_INFINITY, depth: 1_000_000 }),
  };
  const shaping = new RedisShaping(redis, settings);
  const admission = await measure(redis, () => admitAll(shaping, tenants, jobs));

  const plan = {
    handler: { run: async () => null },
    timeoutMs: 60_000,
    attempts: 1,
    backoff: { type: 'fixed', delayMs: 1000, maxMs: 1000 } as const,
    options: {},
    maxResultBytes: 1_000_000,
    abandonAfterMs: 1000,
  };
  const source = new WorkSource(redis, TYPE, type, { worker: 'bench', lockMs: 30_000 });
  const runner = new Runner(source, slots, plan, () => silent);
  const pool = new Pool(redis, new Subscriber(messages), [runner], {
    lockMs: 30_000,
    stalledIntervalMs: 30_000,
    maxStalled: 1,
  });
  const dispatch = await measure(redis, async () => {
    let left = jobs;
    const done = new Promise<void>((resolve) => {
      pool.on('completed', () => {
        left -= 1;
        if (left === 0) resolve();
      });
    });
    await pool.start();
    await done;
  });
  await pool.stop(1000);
  redis.disconnect();
  messages.disconnect();
  if (redis.status !== 'end') await once(redis, 'end');
  return { admission, dispatch };
}

/** One job per request, as the API admits them, 100 requests at a time. */
async function admitAll(shaping: RedisShaping, tenants: number, jobs: number): Promise<void> {
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < jobs) {
      const tenant = `t${next % tenants}`;
      next += 1;
      await shaping.admit(TYPE, tenant, [{ id: newJobId(TYPE), data: '{"n":1}', priority: 4, delayMs: 0, cost: 1 }]);
    }
  };
  await Promise.all(Array.from({ length: 100 }, caller));
}

import type { Redis } from 'ioredis';
import { DEFAULT_CAPACITY, type Profile } from '../../dist/src/model/profile.js';
import { openConnection, Subscriber, untilReady } from '../../dist/src/redis/connection.js';
import { newJobId } from '../../dist/src/shaping/job-id.js';
import { RedisShaping } from '../../dist/src/shaping/redis-shaping.js';
import { WorkSource } from '../../dist/src/shaping/work-source.js';
import { Pool } from '../../dist/workers/pool.js';
import { Runner } from '../../dist/workers/runner.js';

const TYPE = 'noop';
const LOCKS = { lockMs: 30_000, stalledIntervalMs: 30_000, maxStalled: 1 };
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** A door and a pool of one type in this process, over two connections, on an emptied Redis. */
export interface NoopPool {
  readonly redis: Redis;
  readonly pool: Pool;
  /** Admits `count` jobs of one tenant in one call. */
  admit(tenant: string, count?: number): Promise<void>;
  stop(): Promise<void>;
}

export interface NoopOptions {
  readonly profile: Profile;
  readonly slots: number;
  readonly keepResults: { readonly ageMs: number; readonly count: number };
  /** Does a job's work: nothing, unless given. */
  readonly run?: (job: { readonly tenant: string }) => unknown;
}

export async function startNoopPool(
  socketPath: string,
  { profile, slots, keepResults, run = () => null }: NoopOptions,
): Promise<NoopPool> {
  const open = (name: string): Redis => openConnection({ socketPath }, { name, deadlineMs: 120_000 });
  const [redis, messages] = [open('bench'), open('bench-wake')];
  await untilReady(redis);
  await redis.flushall();
  const type = { capacity: DEFAULT_CAPACITY, keepResults, attempts: 1 };
  const shaping = new RedisShaping(redis, { type: () => type, typeNames: () => [TYPE], profile: () => profile });
  const plan = {
    handler: { run },
    ...{ timeoutMs: 60_000, attempts: 1, options: {}, maxResultBytes: 1_000_000, abandonAfterMs: 1000 },
    backoff: { type: 'fixed', delayMs: 1000, maxMs: 1000 } as const,
    ...{ maxHoldMs: 60_000, maxReturns: 10 },
  };
  const source = new WorkSource(redis, TYPE, type, { worker: 'bench', lockMs: LOCKS.lockMs });
  const pool = new Pool(redis, new Subscriber(messages), [new Runner(source, slots, plan, () => silent)], LOCKS);
  return {
    redis,
    pool,
    admit: async (tenant, count = 1) => {
      const jobs = Array.from({ length: count }, () => ({
        ...{ id: newJobId(TYPE), data: '{"n":1}', priority: 4, delayMs: 0, cost: 1 },
      }));
      await shaping.admit(TYPE, tenant, jobs);
    },
    stop: async () => {
      await pool.stop(1000);
      for (const connection of [redis, messages]) connection.disconnect();
    },
  };
}

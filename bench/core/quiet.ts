import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { DEFAULT_CAPACITY, DEFAULT_PROFILE } from '../../dist/src/model/profile.js';
import { openConnection, Subscriber, untilReady } from '../../dist/src/redis/connection.js';
import { newJobId } from '../../dist/src/shaping/job-id.js';
import { RedisShaping } from '../../dist/src/shaping/redis-shaping.js';
import { WorkSource } from '../../dist/src/shaping/work-source.js';
import { Pool } from '../../dist/workers/pool.js';
import { Runner } from '../../dist/workers/runner.js';

const TYPE = 'quiet';
const IDLE_SECONDS = 20;

/** What a worker process and its Redis do when `tenants` tenants had a job each and went quiet. */
export interface Quiet {
  /** Of the worker, at rest. */
  readonly connections: number;
  readonly idleCommandsPerSecond: number;
  /** Keys and bytes of memory that a tenant's results left once they had expired, per tenant. */
  readonly keysLeftPerTenant: number;
}

export async function benchQuiet(socketPath: string, { tenants }: { tenants: number }): Promise<Quiet> {
  const open = (name: string): Redis => openConnection({ socketPath }, { name, deadlineMs: 60_000 });
  const [redis, messages, probe] = [open('quiet'), open('quiet-wake'), open('probe')];
  await untilReady(redis);
  await untilReady(probe);
  await probe.flushall();
  const type = { capacity: DEFAULT_CAPACITY, keepResults: { ageMs: 2000, count: 10 }, attempts: 1 };
  const profile = { ...DEFAULT_PROFILE, ratePerSecond: 100 };
  const shaping = new RedisShaping(redis, { type: () => type, typeNames: () => [TYPE], profile: () => profile });
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const plan = {
    handler: { run: async () => null },
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
  for (let i = 0; i < tenants; i += 100) {
    const jobs = Array.from({ length: Math.min(100, tenants - i) }, (_, k) =>
      shaping.admit(TYPE, `t${i + k}`, [{ id: newJobId(TYPE), data: '{}', priority: 4, delayMs: 0, cost: 1 }]),
    );
    await Promise.all(jobs);
  }
  while ((await probe.keys('*:bucket:*')).length > 0) await delay(1000);
  const keysLeft = (await probe.keys('*:q:*')).length;
  const connections = String(await probe.client('LIST')).match(/name=headgate:quiet/g)?.length ?? 0;
  const before = await commands(probe);
  await delay(IDLE_SECONDS * 1000);
  const idleCommandsPerSecond = ((await commands(probe)) - before - 1) / IDLE_SECONDS;
  await pool.stop(1000);
  for (const connection of [redis, messages, probe]) connection.disconnect();
  return { connections, idleCommandsPerSecond, keysLeftPerTenant: keysLeft / tenants };
}

async function commands(redis: Redis): Promise<number> {
  return Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1]);
}

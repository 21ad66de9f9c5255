import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { DEFAULT_PROFILE } from '../../dist/src/model/profile.js';
import { startOwnPool } from '../own-pool.js';

const IDLE_SECONDS = 20;

/** What a worker process and its Redis do when `tenants` tenants had a job each and went quiet. */
export interface Quiet {
  /** Of the worker, at rest. */
  readonly connections: number;
  readonly idleCommandsPerSecond: number;
  /** Keys that a tenant left once its results had expired. */
  readonly keysLeftPerTenant: number;
}

export async function benchQuiet(socketPath: string, { tenants }: { tenants: number }): Promise<Quiet> {
  const profile = { ...DEFAULT_PROFILE, ratePerSecond: 100 };
  const bench = await startOwnPool(socketPath, { profile, slots: 100, keepResults: { ageMs: 2000, count: 10 } });
  const probe = new Redis(socketPath);
  await bench.pool.start();
  for (let i = 0; i < tenants; i += 100) {
    await Promise.all(Array.from({ length: Math.min(100, tenants - i) }, (_, k) => bench.admit(`t${i + k}`)));
  }
  while ((await probe.keys('*:bucket:*')).length > 0) await delay(1000);
  const keysLeft = (await probe.keys('*:q:*')).length;
  const connections = String(await probe.client('LIST')).match(/name=headgate:bench/g)?.length ?? 0;
  const before = await commands(probe);
  await delay(IDLE_SECONDS * 1000);
  const idleCommandsPerSecond = ((await commands(probe)) - before - 1) / IDLE_SECONDS;
  await bench.stop();
  probe.disconnect();
  return { connections, idleCommandsPerSecond, keysLeftPerTenant: keysLeft / tenants };
}

async function commands(redis: Redis): Promise<number> {
  return Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1]);
}

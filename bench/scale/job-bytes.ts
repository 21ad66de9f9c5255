import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { DEFAULT_PROFILE } from '../../dist/src/model/profile.js';
import { startOwnPool } from '../own-pool.js';
import { inParallel } from './in-parallel.js';
import { untilCompleted } from './until-completed.js';
import { streamsOfEvents, usedMemory } from './used-memory.js';

export interface JobBytesOptions {
  readonly tenants: number;
  readonly jobsPerTenant: number;
  /** The payload as JSON text. */
  readonly payloadBytes: number;
}

/** Growth of Redis, in bytes for each job but where it says otherwise. */
export interface JobBytes {
  readonly waiting: number;
  /** With the result kept, which is `null`, and the payload. */
  readonly ended: number;
  /** In all, once the results have expired. */
  readonly left: number;
  /** Keys that speak of a tenant then. */
  readonly keysLeft: number;
  /** Of the stream of events, as it is at the end. */
  readonly eventsBytes: number;
}

/** Longer than the run takes, so that nothing is gone before it is weighed. */
const KEPT_MS = 60_000;

/** Weighs jobs that wait, that have ended, and what remains of them. */
export async function benchJobBytes(
  socketPath: string,
  { tenants, jobsPerTenant, payloadBytes }: JobBytesOptions,
): Promise<JobBytes> {
  const profile = { ...DEFAULT_PROFILE, ratePerSecond: Number.POSITIVE_INFINITY, depth: 1e6, maxBytes: 1e12 };
  const bench = await startOwnPool(socketPath, { profile, slots: 100, keepResults: { ageMs: KEPT_MS, count: 1000 } });
  const jobs = tenants * jobsPerTenant;
  const text = 'x'.repeat(Math.max(0, payloadBytes - '{"t":""}'.length));
  // The functions are there, and the type.
  await bench.admit('warm');
  const before = await usedMemory(bench.redis);
  await inParallel(100, jobs, (i) => bench.admit(`tenant-${i % tenants}`, [{ data: { t: text } }]));
  const waiting = (await usedMemory(bench.redis)) - before;
  await untilCompleted(bench, jobs + 1);
  const ended = (await usedMemory(bench.redis)) - before;
  const keysLeft = await keysOnceExpired(bench.redis);
  const left = (await usedMemory(bench.redis)) - before;
  const eventsBytes = await streamsOfEvents(bench.redis);
  await bench.stop();
  return { waiting: waiting / jobs, ended: ended / jobs, left, keysLeft, eventsBytes };
}

/** Keys that speak of a tenant, once there are none or results had twice the time to expire. */
async function keysOnceExpired(redis: Redis): Promise<number> {
  for (let left = KEPT_MS; ; left -= 500) {
    const keys = await redis.keys('*tenant-*');
    if (keys.length === 0 || left < -KEPT_MS) return keys.length;
    await delay(500);
  }
}

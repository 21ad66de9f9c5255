import { performance } from 'node:perf_hooks';
import type { Redis } from 'ioredis';

/** What a phase cost: wall time, CPU of Redis and CPU of this process, all in seconds. */
export interface Cost {
  readonly wallS: number;
  readonly redisCpuS: number;
  readonly nodeCpuS: number;
}

/** Runs a phase and takes what it cost from the accounts of Redis and of this process. */
export async function measure(redis: Redis, phase: () => Promise<void>): Promise<Cost> {
  const redisBefore = await redisCpu(redis);
  const nodeBefore = process.cpuUsage();
  const startedAt = performance.now();
  await phase();
  const wallS = (performance.now() - startedAt) / 1000;
  const node = process.cpuUsage(nodeBefore);
  return { wallS, redisCpuS: (await redisCpu(redis)) - redisBefore, nodeCpuS: (node.user + node.system) / 1e6 };
}

/** Seconds of CPU that a server has used. */
export async function redisCpu(redis: Redis): Promise<number> {
  const info = await redis.info('cpu');
  const read = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1] ?? Number.NaN);
  return read('used_cpu_user') + read('used_cpu_sys');
}

/** Microseconds per job of one account of a phase. */
export function perJobUs(seconds: number, jobs: number): number {
  return (seconds * 1e6) / jobs;
}

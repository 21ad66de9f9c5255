import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { quantile } from '../statistics.js';
import { CONNECTIONS, type Load } from './cannon.js';

/** `queue.add` of a plain BullMQ queue in this process, as many calls at a time as there are connections otherwise. */
export async function benchAdd(socketPath: string, { seconds }: { seconds: number }): Promise<Load> {
  const redis = new Redis(socketPath, { maxRetriesPerRequest: null });
  await redis.flushall();
  const queue = new Queue('bench', { connection: redis });
  await addFor(queue, seconds / 4);
  const startedAt = performance.now();
  const timesMs = await addFor(queue, seconds);
  const wallS = (performance.now() - startedAt) / 1000;
  await queue.close();
  redis.disconnect();
  return {
    requestsPerSecond: timesMs.length / wallS,
    p50Ms: quantile(timesMs, 0.5),
    p99Ms: quantile(timesMs, 0.99),
  };
}

/** Milliseconds of each call. */
async function addFor(queue: Queue, seconds: number): Promise<number[]> {
  const until = performance.now() + seconds * 1000;
  const timesMs: number[] = [];
  const caller = async (): Promise<void> => {
    for (let at = performance.now(); at < until; ) {
      await queue.add('bench', { n: 1 }, { priority: 5 });
      const now = performance.now();
      timesMs.push(now - at);
      at = now;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, caller));
  return timesMs;
}

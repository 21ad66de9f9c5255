import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { type Cost, measure } from './probe.js';

/** No-op jobs through one plain BullMQ queue and one Worker, `slots` at once, in this process. */
export async function benchBullmq(
  socketPath: string,
  { jobs, slots }: { jobs: number; slots: number },
): Promise<{ admission: Cost; dispatch: Cost }> {
  const redis = new Redis(socketPath, { maxRetriesPerRequest: null });
  await redis.flushall();
  const queue = new Queue('noop', { connection: redis });
  const admission = await measure(redis, () => addAll(queue, jobs));
  const dispatch = await measure(redis, async () => {
    let left = jobs;
    await new Promise<void>((resolve) => {
      const worker = new Worker('noop', async () => null, {
        connection: redis,
        concurrency: slots,
        removeOnComplete: { age: 3600, count: 1000 },
      });
      worker.on('completed', () => {
        left -= 1;
        if (left === 0) void worker.close().then(resolve);
      });
    });
  });
  await queue.close();
  redis.disconnect();
  return { admission, dispatch };
}

async function addAll(queue: Queue, jobs: number): Promise<void> {
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < jobs) {
      next += 1;
      await queue.add('noop', { n: 1 }, { priority: 5 });
    }
  };
  await Promise.all(Array.from({ length: 100 }, caller));
}

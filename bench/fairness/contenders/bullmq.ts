import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { Contender, ContenderOptions, OfferedJob } from '../contender.js';

/** One plain BullMQ queue for all tenants, and one Worker. It knows no tenants, so a rate for each is not to be had. */
export async function openBullmq({ socketPath, slots, run }: ContenderOptions): Promise<Contender> {
  const redis = new Redis(socketPath, { maxRetriesPerRequest: null });
  await redis.flushall();
  const queue = new Queue<OfferedJob>('work', { connection: redis });
  const worker = new Worker<OfferedJob>('work', ({ data }) => run(data), {
    connection: redis,
    concurrency: slots,
    autorun: false,
    removeOnComplete: { count: 1000 },
  });
  return {
    add: async (jobs) => {
      await queue.addBulk(jobs.map((data) => ({ name: 'work', data })));
      return [];
    },
    work: async () => {
      void worker.run();
      await worker.waitUntilReady();
    },
    stop: async () => {
      await worker.close(true);
      await queue.close();
      redis.disconnect();
    },
  };
}

import { Queue, Worker } from 'groupmq';
import { Redis } from 'ioredis';
import type { Contender, ContenderOptions, OfferedJob } from '../contender.js';

/** GroupMQ: a group per tenant, of which one job runs at a time; a rate for each it does not have. */
export async function openGroupmq({ socketPath, slots, run }: ContenderOptions): Promise<Contender> {
  const redis = new Redis(socketPath, { maxRetriesPerRequest: null });
  await redis.flushall();
  const queue = new Queue<OfferedJob>({ redis, namespace: 'work' });
  const worker = new Worker<OfferedJob>({ queue, concurrency: slots, handler: ({ data }) => run(data) });
  return {
    add: async (jobs) => {
      await Promise.all(jobs.map((data) => queue.add({ groupId: data.tenant, data })));
      return [];
    },
    work: async () => {
      void worker.run();
    },
    stop: async () => {
      await worker.close(0);
      redis.disconnect();
    },
  };
}

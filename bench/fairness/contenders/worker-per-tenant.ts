import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { byTenant } from '../by-tenant.js';
import type { Contender, ContenderOptions, OfferedJob } from '../contender.js';
import { Slots } from '../slots.js';

/**
 * One BullMQ queue and one Worker per tenant, each with a limiter of its own: BullMQ's free way to keep tenants apart. What
 * may run at once over all of them BullMQ does not bound, so their jobs wait inside their handlers for a slot, first come,
 * first served; a job starts when it has one.
 */
export async function openWorkerPerTenant(options: ContenderOptions): Promise<Contender> {
  const { socketPath, tenants, ratePerSecond } = options;
  const redis = new Redis(socketPath, { maxRetriesPerRequest: null });
  await redis.flushall();
  const slots = new Slots(options.slots);
  const queues = new Map(tenants.map((name) => [name, new Queue<OfferedJob>(name, { connection: redis })]));
  const limiter = ratePerSecond === undefined ? {} : { limiter: { max: 1, duration: 1000 / ratePerSecond } };
  const workers: Worker[] = [];
  return {
    add: async (jobs) => {
      const adding = [...byTenant(jobs)].map(([tenant, own]) =>
        queues.get(tenant)?.addBulk(own.map((data) => ({ name: 'work', data }))),
      );
      await Promise.all(adding);
      return [];
    },
    work: async () => {
      for (const name of tenants) {
        const work = ({ data }: { data: OfferedJob }): Promise<void> => slots.hold(() => options.run(data));
        workers.push(
          new Worker<OfferedJob>(name, work, {
            connection: redis,
            concurrency: 1,
            removeOnComplete: { count: 10 },
            ...limiter,
          }),
        );
      }
      await Promise.all(workers.map((worker) => worker.waitUntilReady()));
    },
    stop: async () => {
      await Promise.all(workers.map((worker) => worker.close(true)));
      redis.disconnect();
    },
  };
}

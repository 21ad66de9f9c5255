import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { type Cost, measure } from './probe.js';

/** No-op jobs through one BullMQ queue and one Worker per tenant, in this process: BullMQ's free way to keep tenants apart. */
export async function benchWorkerPerTenant(
  socketPath: string,
  { tenants, jobs }: { tenants: number; jobs: number },
): Promise<{ dispatch: Cost; connections: number }> {
  const redis = new Redis(socketPath, { maxRetriesPerRequest: null });
  await redis.flushall();
  const names = Array.from({ length: tenants }, (_, i) => `t${i}`);
  for (const name of names) {
    const queue = new Queue(name, { connection: redis });
    await queue.addBulk(Array.from({ length: jobs / tenants }, () => ({ name: 'noop', data: { n: 1 } })));
    await queue.close();
  }
  let left = jobs;
  const workers: Worker[] = [];
  let connections = 0;
  const dispatch = await measure(redis, async () => {
    await new Promise<void>((resolve) => {
      for (const name of names) {
        const worker = new Worker(name, async () => null, {
          connection: redis,
          concurrency: 1,
          removeOnComplete: { age: 3600, count: 1000 },
        });
        worker.on('completed', () => {
          left -= 1;
          if (left === 0) resolve();
        });
        workers.push(worker);
      }
    });
    connections = Number(/connected_clients:(\d+)/.exec(await redis.info('clients'))?.[1]);
  });
  await Promise.all(workers.map((worker) => worker.close(true)));
  redis.disconnect();
  return { dispatch, connections };
}

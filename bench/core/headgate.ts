import { DEFAULT_PROFILE } from '../../dist/src/model/profile.js';
import { type OwnPool, startOwnPool } from '../own-pool.js';
import { type Cost, measure } from './probe.js';

/** No-op jobs through the pool: `jobs` of them spread evenly over `tenants`, `slots` at once, in this process. */
export async function benchHeadgate(
  socketPath: string,
  { tenants, jobs, slots }: { tenants: number; jobs: number; slots: number },
): Promise<{ admission: Cost; dispatch: Cost }> {
  const profile = { ...DEFAULT_PROFILE, ratePerSecond: Number.POSITIVE_INFINITY, depth: 1_000_000 };
  const bench = await startOwnPool(socketPath, { profile, slots, keepResults: { ageMs: 3_600_000, count: 1000 } });
  const admission = await measure(bench.redis, () => admitAll(bench, tenants, jobs));
  const dispatch = await measure(bench.redis, async () => {
    let left = jobs;
    const done = new Promise<void>((resolve) => {
      bench.pool.on('completed', () => {
        left -= 1;
        if (left === 0) resolve();
      });
    });
    await bench.pool.start();
    await done;
  });
  await bench.stop();
  return { admission, dispatch };
}

/** One job per request, as the API admits them, 100 requests at a time. */
async function admitAll(bench: OwnPool, tenants: number, jobs: number): Promise<void> {
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < jobs) {
      next += 1;
      await bench.admit(`t${next % tenants}`);
    }
  };
  await Promise.all(Array.from({ length: 100 }, caller));
}

import { DEFAULT_PROFILE } from '../../../dist/src/model/profile.js';
import type { Admission } from '../../../dist/src/model/verdict.js';
import { startOwnPool } from '../../own-pool.js';
import { byTenant } from '../by-tenant.js';
import type { Contender, ContenderOptions, OfferedJob, Promised } from '../contender.js';

/** Headgate's door and pool. */
export async function openHeadgate(options: ContenderOptions): Promise<Contender> {
  const { ratePerSecond = Number.POSITIVE_INFINITY, weightOf = () => 1 } = options;
  const bench = await startOwnPool(options.socketPath, {
    profile: (tenant) => ({ ...DEFAULT_PROFILE, ratePerSecond, weight: weightOf(tenant), depth: 1_000_000 }),
    slots: options.slots,
    keepResults: { ageMs: 60_000, count: 1000 },
    run: ({ data }) => options.run(offered(data)),
  });
  return {
    add: async (jobs) => {
      const promises = new Map<OfferedJob, Promised>();
      const adding = [...byTenant(jobs)].map(async ([tenant, own]) => {
        const { admissions } = await bench.admit(
          tenant,
          own.map((data) => ({ data, ...(data.cost === undefined ? {} : { cost: data.cost }) })),
        );
        for (const [i, job] of own.entries()) promises.set(job, promised(admissions[i]));
      });
      await Promise.all(adding);
      return jobs.map((job) => promises.get(job) ?? promised(undefined));
    },
    work: () => bench.pool.start(),
    stop: () => bench.stop(),
  };
}

function promised(admission: Admission | undefined): Promised {
  if (admission?.verdict !== 'admitted' || admission.promise === null)
    throw new Error(`a job was not admitted: ${JSON.stringify(admission)}`);
  const { waitMs, releaseAtMs, releaseBetweenMs, basis } = admission.promise;
  const fromNow = (atMs: number): number => atMs - releaseAtMs + waitMs;
  const betweenMs = releaseBetweenMs && ([fromNow(releaseBetweenMs[0]), fromNow(releaseBetweenMs[1])] as const);
  return { waitMs, basis, betweenMs };
}

function offered(data: unknown): OfferedJob {
  if (typeof data !== 'object' || data === null || !('tenant' in data) || !('number' in data))
    throw new Error('not a job of this measurement');
  const { tenant, number } = data;
  if (typeof tenant !== 'string' || typeof number !== 'number') throw new Error('not a job of this measurement');
  return { tenant, number };
}

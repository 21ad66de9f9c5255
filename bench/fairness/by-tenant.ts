import type { OfferedJob } from './contender.js';

/** The jobs of each tenant, in their order. */
export function byTenant(jobs: readonly OfferedJob[]): ReadonlyMap<string, readonly OfferedJob[]> {
  const grouped = new Map<string, OfferedJob[]>();
  for (const job of jobs) {
    const own = grouped.get(job.tenant);
    if (own) own.push(job);
    else grouped.set(job.tenant, [job]);
  }
  return grouped;
}

import { type Limit, quotaOf } from '../model/limit.js';
import type { PolicerVerdict } from './policer.js';

/** The verdict on a cost that some limit can never let through: it names the one with the smallest quota. */
export function tooDear(limits: readonly { readonly limit: Limit }[], cost: number): PolicerVerdict | undefined {
  let limitedBy = -1;
  let max = Number.POSITIVE_INFINITY;
  for (let i = 0; i < limits.length; i += 1) {
    const limit = limits[i]?.limit;
    const quota = limit ? quotaOf(limit) : max;
    if (cost <= quota || quota >= max) continue;
    limitedBy = i;
    max = quota;
  }
  return limitedBy < 0 ? undefined : { verdict: 'cost_exceeds_max', limitedBy, max };
}

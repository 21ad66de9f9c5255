import type { MemoryState } from '../redis/memory-watch.js';
import { RedisUnavailable } from '../redis/outage.js';
import type { Shaping } from '../shaping/shaping.js';
import type { Problem } from './problems.js';
import type { JobAtDoor } from './read-job.js';

/** Memory is given back as jobs end: look again in five to fifteen seconds, spread. */
const LEAST_RETRY_MS = 5000;
const SPREAD_MS = 10_000;

/** Why the store takes no jobs now; `undefined` while it does. */
export function noRoomProblem(state: MemoryState, random: () => number): Problem | undefined {
  if (state.kind === 'fine') return undefined;
  const retryAfterMs = LEAST_RETRY_MS + Math.floor(random() * SPREAD_MS);
  const detail =
    state.kind === 'high'
      ? 'The memory of the store is above its high-water mark. Nothing was stored; jobs that wait go on.'
      : `The store may throw away jobs (maxmemory-policy ${state.policy}), so that none is taken.`;
  return { code: state.kind === 'high' ? 'memory_full' : 'store_evicts', detail, retryAfterMs };
}

/** Whether all of these jobs are there already under their idempotency keys: to answer them takes no room. */
export async function areThere(shaping: Pick<Shaping, 'knows'>, jobs: readonly JobAtDoor[]): Promise<boolean> {
  for (const { type, tenant, job } of jobs) {
    if (job.idempotencyKey === undefined) return false;
    try {
      const [isKnown = false] = await shaping.knows(type, tenant, [job.idempotencyKey]);
      if (!isKnown) return false;
    } catch (error) {
      if (error instanceof RedisUnavailable) return false;
      throw error;
    }
  }
  return true;
}

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
  switch (state.kind) {
    case 'fine':
      return undefined;
    case 'high':
      return fullProblem(random, 'The memory of the store is above its high-water mark.');
    case 'evicts': {
      const detail = `The store may throw away jobs (maxmemory-policy ${state.policy}), so that none is taken.`;
      return { code: 'store_evicts', detail, retryAfterMs: retryMs(random) };
    }
  }
}

/** The store has no room for what it was to keep. */
export function fullProblem(random: () => number, why = 'The store has no room.'): Problem {
  const detail = `${why} Nothing was stored; jobs that wait go on.`;
  return { code: 'memory_full', detail, retryAfterMs: retryMs(random) };
}

function retryMs(random: () => number): number {
  return LEAST_RETRY_MS + Math.floor(random() * SPREAD_MS);
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

import { setTimeout as delay } from 'node:timers/promises';
import { isPassing } from '../src/redis/outage.js';

const FIRST_PAUSE_MS = 25;
const LAST_PAUSE_MS = 2000;

/**
 * Repeats `attempt` through errors of Redis that end by themselves (a restart, a failover, a lost connection), with a
 * growing, jittered pause. Any other error, and an abort of `signal`, ends it.
 */
export async function throughPassingErrors<Value>(attempt: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LAST_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isPassing(error) || signal.aborted) throw error;
      await delay(pauseMs * (0.75 + Math.random() / 2), undefined, { signal });
    }
  }
}

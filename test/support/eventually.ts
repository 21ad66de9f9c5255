import { setTimeout as pause } from 'node:timers/promises';

/** Against what never comes: how long it takes on a busy machine says nothing. */
const PATIENCE_MS = 60_000;

/** What `attempt` answers as soon as it throws no more; its last error after a minute. */
export async function eventually<T>(attempt: () => T | Promise<T>, options: { interval?: number } = {}): Promise<T> {
  for (const deadline = performance.now() + PATIENCE_MS; ; await pause(options.interval ?? 50)) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
  }
}

import { vi } from 'vitest';

/** Against what never comes: how long it takes on a busy machine says nothing. */
const PATIENCE_MS = 60_000;

/** What `attempt` answers as soon as it throws no more; its last error after a minute. */
export function eventually<T>(attempt: () => T | Promise<T>, options: { interval?: number } = {}): Promise<T> {
  return vi.waitFor(attempt, { timeout: PATIENCE_MS, ...options });
}

/** The pause before the next attempt of a failed job. */
export interface Backoff {
  readonly type: 'fixed' | 'exponential';
  /** Pause after the first failure, in milliseconds. */
  readonly delayMs: number;
  /** Longest pause, in milliseconds. */
  readonly maxMs: number;
}

/**
 * Milliseconds until the attempt after `attempt` (1-based). Exponential doubles each time; both are jittered by up to a
 * quarter upwards, so that jobs that failed together do not come back together.
 */
export function backoffMs({ type, delayMs, maxMs }: Backoff, attempt: number, random = Math.random): number {
  const base = type === 'fixed' ? delayMs : Math.min(maxMs, delayMs * 2 ** Math.min(attempt - 1, 40));
  return Math.round(Math.min(maxMs, base) * (1 + random() / 4));
}

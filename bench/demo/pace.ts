import { setTimeout as wait } from 'node:timers/promises';

/**
 * Calls `send` at a steady rate, one call after the other, until `signal` aborts. A call that took long is caught up
 * with: the n-th is due n intervals after the start.
 */
export async function pace(perSecond: number, signal: AbortSignal, send: (n: number) => Promise<void>): Promise<void> {
  const startedMs = performance.now();
  for (let n = 0; !signal.aborted; n += 1) {
    await pause(startedMs + (1000 * n) / perSecond - performance.now(), signal);
    if (!signal.aborted) await send(n);
  }
}

/** Repeats `step` with `pauseMs` between the end of one and the start of the next, until `signal` aborts. */
export async function repeat(pauseMs: number, signal: AbortSignal, step: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await step();
    await pause(pauseMs, signal);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return;
  await wait(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

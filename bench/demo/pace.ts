import { setTimeout as wait } from 'node:timers/promises';

/**
 * Calls `send` at a steady rate, one call after the other, until `signal` aborts. The first `atOnce` calls are due at the
 * start and the n-th after them n intervals later; a call that took long is caught up with.
 */
export async function pace(
  perSecond: number,
  atOnce: number,
  signal: AbortSignal,
  send: (n: number) => Promise<void>,
): Promise<void> {
  const startedMs = performance.now();
  for (let n = 0; !signal.aborted; n += 1) {
    await pause(startedMs + (1000 * (n - atOnce)) / perSecond - performance.now(), signal);
    if (!signal.aborted) await send(n);
  }
}

/** Repeats `step`, with `pauseMs` between two, until it says that it is done or `signal` aborts. */
export async function repeat(
  pauseMs: number,
  signal: AbortSignal,
  step: () => Promise<'again' | 'done'>,
): Promise<void> {
  while (!signal.aborted && (await step()) === 'again') await pause(pauseMs, signal);
}

/**
 * A controller that also aborts with `signal`. Not `AbortSignal.any` with `AbortSignal.timeout`: Node 20 may collect the
 * timeout as garbage, and then nothing ever aborts.
 */
export function linkedTo(signal: AbortSignal): AbortController {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return controller;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return;
  await wait(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

import type { HandlerContext, HandlerJob } from '../../../workers/handler.js';

/** A job for a handler under test: a first attempt of cost 1, with what the test states. */
export function jobWith(stated: Partial<HandlerJob>): HandlerJob {
  return { id: 'j1', type: 'test', tenant: 'acme', data: {}, attempt: 1, cost: 1, options: {}, ...stated };
}

/** A context without a worker behind it: progress, costs and log go nowhere. */
export function contextFor(signal: AbortSignal = new AbortController().signal): HandlerContext {
  const silent = (): void => undefined;
  return {
    signal,
    progress: async () => undefined,
    emit: async () => undefined,
    charge: async () => undefined,
    log: { debug: silent, info: silent, warn: silent, error: silent },
    running: { startedAtMs: Date.now(), deadlineAtMs: null },
  };
}

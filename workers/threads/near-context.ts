import type { MessagePort } from 'node:worker_threads';
import type { HandlerContext } from '../handler.js';
import type { FromThread, ToThread, Verb } from './messages.js';
import { toThrown } from './thrown.js';

/**
 * The worker's end of a run in a thread: does what the handler over there asks of its context, and tells it when its
 * signal aborts. Answers a function that ends it: what the thread says later is not heard.
 */
export function serveContext(port: MessagePort, ctx: HandlerContext): () => void {
  const say = (message: ToThread): void => port.postMessage(message);
  const does: Record<Verb, (value: unknown) => Promise<void>> = {
    progress: (value) => ctx.progress(value),
    emit: async (chunk) => ctx.emit(chunk),
    charge: async (cost) => ctx.charge(Number(cost)),
    heard: async () => undefined,
  };
  const answer = (id: number, done: Promise<void>): void => {
    done.then(
      () => say({ kind: 'answer', id }),
      (error: unknown) => say({ kind: 'answer', id, thrown: toThrown(error) }),
    );
  };
  const onAbort = (): void => say({ kind: 'abort', reason: ctx.signal.reason });
  port.on('message', (message: FromThread) => {
    if (message.kind === 'log') ctx.log[message.level](message.fields, message.message);
    else answer(message.id, does[message.verb](message.value));
  });
  if (ctx.signal.aborted) onAbort();
  ctx.signal.addEventListener('abort', onAbort, { once: true });
  return () => {
    ctx.signal.removeEventListener('abort', onAbort);
    port.close();
  };
}

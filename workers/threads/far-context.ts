import type { MessagePort } from 'node:worker_threads';
import { checkCost } from '../charges.js';
import type { HandlerContext, HandlerLog, LogLine, RunningInfo } from '../handler.js';
import { OutputBudget } from '../output-budget.js';
import type { FromThread, LogLevel, ToThread, Verb } from './messages.js';
import { fromThrown } from './thrown.js';

/** The thread's end of a run: a context whose every word goes through `port`. */
export interface FarContext {
  readonly ctx: HandlerContext;
  /** Resolves when the other end has heard everything that was said. */
  heard(): Promise<void>;
}

export function farContext(port: MessagePort, running: RunningInfo): FarContext {
  const stop = new AbortController();
  const waiting = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();
  const budget = new OutputBudget();
  let calls = 0;
  const say = (message: FromThread): void => port.postMessage(message);
  const call = (verb: Verb, value: unknown): Promise<void> => {
    calls += 1;
    const id = calls;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      say({ kind: 'call', id, verb, value });
    });
  };
  port.on('message', (message: ToThread) => {
    if (message.kind === 'abort') return stop.abort(message.reason);
    const { id, thrown } = message;
    if (thrown) waiting.get(id)?.reject(fromThrown(thrown));
    else waiting.get(id)?.resolve();
    waiting.delete(id);
  });
  return {
    ctx: {
      signal: stop.signal,
      progress: async (value) => call('progress', asJson(value)),
      emit: (chunk) => unheeded(call('emit', JSON.parse(budget.take(chunk)))),
      charge: (cost) => {
        checkCost(cost);
        return unheeded(call('charge', cost));
      },
      log: farLog((level, fields, message) => say({ kind: 'log', level, fields, message })),
      running,
    },
    heard: () => call('heard', null),
  };
}

/** What JSON makes of a value: that is how it is stored, and anything else may not cross. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value) ?? 'null');
}

/** Nobody needs to wait for it, so that it fails is no news to the process. */
function unheeded(said: Promise<void>): Promise<void> {
  said.catch(() => undefined);
  return said;
}

function farLog(say: (level: LogLevel, fields: object, message: string) => void): HandlerLog {
  const line =
    (level: LogLevel): LogLine =>
    (fields: object | string, message?: string) =>
      typeof fields === 'string' ? say(level, {}, fields) : say(level, loggable(fields), message ?? '');
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}

/** Fields of a log line are written as JSON; an error among them keeps what it says. */
function loggable(fields: object): object {
  const shown = (_: string, value: unknown): unknown =>
    value instanceof Error ? { type: value.name, message: value.message, stack: value.stack } : value;
  try {
    const text = JSON.stringify(fields instanceof Error ? { err: fields } : fields, shown);
    const plain: unknown = JSON.parse(text ?? '{}');
    return typeof plain === 'object' && plain !== null ? plain : {};
  } catch {
    return {};
  }
}

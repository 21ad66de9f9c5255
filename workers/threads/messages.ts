import type { HandlerLog } from '../handler.js';
import type { Thrown } from './thrown.js';

/**
 * What the two ends of a run in a thread say to each other. Messages of one port arrive in the order in which they were
 * sent, so what a handler said of its job is heard before its result.
 */

/** What a handler may ask of the other end, by their names in its context; `heard` is the thread's own. */
export type Verb = 'progress' | 'emit' | 'charge' | 'heard';

export type LogLevel = keyof HandlerLog;

export type FromThread =
  | { readonly kind: 'call'; readonly id: number; readonly verb: Verb; readonly value: unknown }
  | { readonly kind: 'log'; readonly level: LogLevel; readonly fields: object; readonly message: string };

export type ToThread =
  | { readonly kind: 'answer'; readonly id: number; readonly thrown?: Thrown }
  | { readonly kind: 'abort'; readonly reason: unknown };

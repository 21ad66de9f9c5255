import { field, numberField, textField } from './json-field.js';
import type { RunOutcome } from './trace.js';

/** A handler begins to work. */
export interface StartCall {
  readonly job: string;
  readonly type: string;
  readonly tenant: string;
  readonly cost: number;
  readonly attempt: number;
  /** How long the referee keeps the caller waiting, as an upstream at work would. */
  readonly workMs: number;
  /** When the handler was called, by the monotonic clock of the machine; absent when it runs on another one. */
  readonly calledAt?: number;
}

/** A handler is done. */
export interface EndCall {
  readonly run: number;
  readonly outcome: RunOutcome;
}

/** Reads the body of `POST /start`; a sentence when it is none. */
export function readStartCall(body: unknown): StartCall | string {
  const job = textField(body, 'job');
  const type = textField(body, 'type');
  const tenant = textField(body, 'tenant');
  if (job === undefined || type === undefined || tenant === undefined) return 'job, type and tenant must be texts';
  const cost = quantity(body, 'cost', undefined);
  const attempt = quantity(body, 'attempt', undefined);
  const workMs = quantity(body, 'workMs', 0);
  if (cost === undefined || attempt === undefined || workMs === undefined) {
    return 'cost, attempt and workMs must be numbers of at least 0';
  }
  const calledAt = quantity(body, 'calledAt', undefined);
  return { job, type, tenant, cost, attempt, workMs, ...(calledAt === undefined ? {} : { calledAt }) };
}

/** Reads the body of `POST /end`; a sentence when it is none. */
export function readEndCall(body: unknown): EndCall | string {
  const run = quantity(body, 'run', undefined);
  if (run === undefined) return 'run must be the number that /start answered';
  const outcome = field(body, 'outcome') ?? 'ok';
  if (outcome !== 'ok' && outcome !== 'failed' && outcome !== 'returned')
    return 'outcome must be ok, failed or returned';
  return { run, outcome };
}

function quantity(body: unknown, name: string, absent: number | undefined): number | undefined {
  const value = field(body, name) === undefined ? absent : numberField(body, name);
  return value !== undefined && value >= 0 ? value : undefined;
}

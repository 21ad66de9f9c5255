import type { RetryTerms } from '../model/verdict.js';
import { decodeTenant } from '../redis/keys.js';
import { readOptions } from './job-options.js';
import type { Dispatched, JobFields } from './scripts.js';
import type { Outcome } from './work-source.js';

/** A job that was handed to somebody. */
export type DispatchedJob = Dispatched & { readonly kind: 'job' };

/** What a run is about: the job without its payload, which may be no JSON at all. */
export interface RunJob {
  readonly id: string;
  readonly type: string;
  readonly tenant: string;
  /** 1 for the first run, one more for each further one. */
  readonly attempt: number;
  /** Units that the job takes from its bucket, as far as is known. */
  readonly cost: number;
  /** Follows the request from the caller through the API's log to this one. */
  readonly requestId?: string;
}

/** One run that ended, for logs and metrics. Durations in milliseconds. */
export interface EndedRun {
  readonly job: RunJob;
  readonly outcome: Outcome;
  /** `lost`: another worker took the job over, or nobody answered before the worker had to leave. */
  readonly verdict: 'settled' | 'lost';
  readonly waitMs: number;
  readonly runMs: number;
  /** Somebody wants to be told of the job's end, if this was it. */
  readonly told: boolean;
}

/** What a job brings along to its run. */
export interface RunTerms {
  /** How often the job came back from a busy upstream; 0 unless stated. */
  readonly returns?: number;
  /** The job's own terms, which hold within those of the type. */
  readonly retries?: RetryTerms;
}

/** The run of a job of this type, from what was dispatched. */
export function runJobOf(
  type: string,
  { tenant, id, fields }: Pick<DispatchedJob, 'tenant' | 'id' | 'fields'>,
): RunJob {
  const requestId = fields.get('hg:r');
  return {
    id,
    type,
    tenant: decodeTenant(tenant),
    attempt: Number(fields.get('atm') ?? 0) + 1,
    cost: Number(fields.get('hg:c') ?? 1),
    ...(requestId !== undefined && { requestId }),
  };
}

export function termsOf(fields: JobFields): Required<RunTerms> {
  return { returns: Number(fields.get('hg:n') ?? 0), retries: readOptions(fields.get('opts')).retries };
}

/** From the admission (or from falling due) to the last start, by the clock of Redis; 0 or more, in milliseconds. */
export function waitOf(fields: JobFields): number {
  const joinedAtMs = Number(fields.get('timestamp')) + readOptions(fields.get('opts')).delayMs;
  return Math.max(0, Number(fields.get('processedOn')) - joinedAtMs);
}

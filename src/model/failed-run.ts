import { type Backoff, backoffMs } from './backoff.js';
import type { RetryTerms } from './verdict.js';

/** How often and when the jobs of a type are tried again. */
export interface RetryPlan {
  /** How often a job is tried in all. */
  readonly attempts: number;
  readonly backoff: Backoff;
  /** Where a job waits that is tried again, within its priority. */
  readonly retry: 'front' | 'back';
  /** For how long a busy upstream holds a bucket or the type at most. */
  readonly maxHoldMs: number;
  /** How often a job may come back from a busy upstream before that counts as a failed attempt. */
  readonly maxReturns: number;
}

/** A run that came to nothing, and what is known of its job. */
export interface FailedRun {
  /** Why, for whoever reads the job. */
  readonly message: string;
  /** The job's upstream takes nothing for so long; `Infinity` for as long as may be. */
  readonly busy?: { readonly retryAfterMs: number; readonly scope: 'bucket' | 'type' } | undefined;
  /** No other attempt can help. */
  readonly final: boolean;
  /** Of this run, from 1. */
  readonly attempt: number;
  /** How often the job came back from a busy upstream before. */
  readonly returns: number;
  /** The job's own terms, which hold within those of the plan. */
  readonly retries: RetryTerms;
}

/** What becomes of the job; durations in whole milliseconds. */
export type AfterFailure =
  | { readonly kind: 'failed'; readonly value: string }
  | { readonly kind: 'retry'; readonly value: string; readonly delayMs: number; readonly front: boolean }
  | { readonly kind: 'busy'; readonly value: string; readonly holdMs: number; readonly scope: 'bucket' | 'type' };

/**
 * What becomes of a job whose run failed, whoever ran it. A busy upstream uses no attempt until the job came back too
 * often; otherwise there is another attempt unless the run says that none can help, or it was the last.
 */
export function afterFailure(run: FailedRun, plan: RetryPlan, random = Math.random): AfterFailure {
  const { message: value, busy, final, attempt, returns, retries } = run;
  if (busy && returns < plan.maxReturns) {
    return { kind: 'busy', value, holdMs: Math.ceil(Math.min(busy.retryAfterMs, plan.maxHoldMs)), scope: busy.scope };
  }
  if (final || attempt >= Math.min(plan.attempts, retries.attempts ?? plan.attempts)) return { kind: 'failed', value };
  const delayMs = backoffMs({ ...plan.backoff, ...retries.backoff }, attempt, random);
  return { kind: 'retry', value, delayMs, front: plan.retry === 'front' };
}

import type { JobWebhook } from './webhook.js';

/**
 * What Headgate answers at the door and about a job afterwards. Plain data: every layer above speaks in these words.
 */

/** Where a job is. The first three are not ends; the last four are, and a job reaches exactly one of them. */
export type JobState = 'waiting' | 'delayed' | 'active' | 'completed' | 'failed' | 'expired' | 'cancelled';

/** Every state, in the order of a job's life. */
export const JOB_STATES: readonly JobState[] = [
  'waiting',
  'delayed',
  'active',
  'completed',
  'failed',
  'expired',
  'cancelled',
];

/**
 * What a promised start rests on.
 * - `rate`: the bucket's own rate; exact while a slot is free.
 * - `capacity`: workers, the bucket's concurrency or the type's limits are scarce; an estimate.
 * - `delay`: the caller asked for a delay; a lower bound.
 */
export type Basis = 'rate' | 'capacity' | 'delay';

/** When a job is expected to start. */
export interface StartPromise {
  /** 1 is the next to start in its bucket; `null` while delayed. */
  readonly position: number | null;
  /**
   * Wall-clock instant of the promised start, milliseconds since 1970, by the clock of Redis. `Infinity`, and so the wait,
   * while the bucket is paused: nobody can say.
   */
  readonly releaseAtMs: number;
  /** The same as a wait from the moment of the answer, in milliseconds. */
  readonly waitMs: number;
  readonly basis: Basis;
  /**
   * Wall-clock instants between which it starts nine times out of ten, by what was measured; `null` where the promise is no
   * estimate, or nothing was measured yet.
   */
  readonly releaseBetweenMs: readonly [earliestMs: number, latestMs: number] | null;
  /** Present and true when the read had to stop counting (more than 1,000 jobs of mixed cost ahead). */
  readonly approximate?: true;
}

/** A job as it comes to the door, already validated. */
export interface NewJob {
  readonly id: string;
  /** The payload, JSON text. */
  readonly data: string;
  /** 0 starts first, 9 last. */
  readonly priority: number;
  /** Milliseconds from now until it joins the queue; 0 to join at once. */
  readonly delayMs: number;
  /** Wall-clock instant, milliseconds since 1970, at which it joins the queue, in place of a delay; at once when it has passed. */
  readonly runAtMs?: number | undefined;
  /** Wall-clock instant, milliseconds since 1970, at which an unstarted job expires. */
  readonly startByMs?: number | undefined;
  /** Units that it takes from the bucket. */
  readonly cost: number;
  /** Scope: type and tenant. */
  readonly idempotencyKey?: string | undefined;
  /** Its own terms; those of its type where they are absent. */
  readonly retries?: RetryTerms | undefined;
  /** Follows the job from the API's log to the handler's. */
  readonly requestId?: string;
  /** Where its end is told, in place of its tenant's webhook. */
  readonly webhook?: JobWebhook | undefined;
}

/** Why the door stayed shut. Nothing was charged and nothing was stored. */
export type Rejection =
  | {
      readonly verdict: 'rejected';
      readonly reason: 'bucket_full';
      /** Which limit is reached. */
      readonly limit: 'depth' | 'maxBytes';
      /** Milliseconds until the next place is free, exact with basis `rate`. `null` when nothing is going to leave (paused). */
      readonly retryAfterMs: number | null;
    }
  | {
      readonly verdict: 'rejected';
      readonly reason: 'wait_too_long';
      readonly waitMs: number;
      readonly retryAfterMs: number;
    }
  | { readonly verdict: 'rejected'; readonly reason: 'deadline_unreachable'; readonly earliestStartAtMs: number }
  | {
      readonly verdict: 'rejected';
      readonly reason: 'rate_limited';
      /** Milliseconds until the job conforms, exact if nobody else takes anything. `null` while the rate is 0. */
      readonly retryAfterMs: number | null;
    }
  | {
      readonly verdict: 'rejected';
      readonly reason: 'cost_exceeds_max';
      /** The greatest cost that can pass: the burst of a policed bucket. */
      readonly max: number;
    }
  | { readonly verdict: 'rejected'; readonly reason: 'idempotency_mismatch' }
  | { readonly verdict: 'rejected'; readonly reason: 'deadline_past' };

/** The job is stored; `replayed` when an earlier request with the same id or idempotency key had stored it. */
export interface Admitted {
  readonly verdict: 'admitted';
  readonly id: string;
  readonly replayed: boolean;
  readonly state: JobState;
  /** `null` when a replayed job has already started or ended. */
  readonly promise: StartPromise | null;
}

export type Admission = Admitted | Rejection;

/** What it came to that a failed job should wait again. */
export type Retrial =
  | { readonly verdict: 'retried' | 'not_found' | 'not_failed' }
  | (Rejection & { readonly reason: 'bucket_full' });

/** What it came to that many failed jobs of a bucket should wait again. */
export interface BulkRetrial {
  /** Jobs that wait again. */
  readonly retried: number;
  /** Why the rest does not, where the bucket has no room for it. */
  readonly refusal?: Rejection & { readonly reason: 'bucket_full' };
  /** Goes on from here; absent when nothing is left. */
  readonly cursor?: string;
}

/** How often a job is tried and how long it waits before it is tried again, where it says so itself: within what its type allows. */
export interface RetryTerms {
  /** Tries in all. */
  readonly attempts?: number;
  readonly backoff?: { readonly type: 'fixed' | 'exponential'; readonly delayMs: number };
}

/** What cancelling came to. */
export type Cancellation = 'cancelled' | 'cancel_requested' | 'already_ended' | 'not_found';

/** One job as a reader sees it. Instants are wall-clock milliseconds since 1970, by the clock of Redis. */
export interface JobView {
  readonly id: string;
  readonly type: string;
  readonly tenant: string;
  readonly state: JobState;
  readonly priority: number;
  readonly cost: number;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  /** How much later than its admission promised it started, in milliseconds; `null` until then, and once it started again. */
  readonly slipMs: number | null;
  readonly endedAtMs: number | null;
  readonly startByMs: number | null;
  /** Present while the job waits or is delayed. */
  readonly promise: StartPromise | null;
  readonly attemptsMade: number;
  readonly cancelRequested: boolean;
  readonly progress: unknown;
  /** The handler's result; present when completed, but not in a page. */
  readonly result?: unknown;
  /** Why it failed, expired or was cancelled. */
  readonly error?: string;
}

/** One page of jobs; `cursor` fetches the next page and is absent on the last. */
export interface JobPage {
  readonly jobs: readonly JobView[];
  readonly cursor?: string;
}

/** Where a job is. The last four are ends, and a job reaches exactly one of them. */
export type JobState = 'waiting' | 'delayed' | 'active' | 'completed' | 'failed' | 'expired' | 'cancelled';

/** What a promised start rests on; docs/http.md says more. */
export type Basis = 'rate' | 'capacity' | 'delay';

/** An end of a job that a webhook tells. */
export type WebhookEvent = 'completed' | 'failed' | 'expired' | 'cancelled';

/** A job to be done. Instants are RFC 3339, or a `Date`. */
export interface NewJob {
  readonly type: string;
  /** The payload, which the handler gets as it is. */
  readonly data: Readonly<Record<string, unknown>>;
  /** 0 (first) to 9 (last); 4 unless stated. */
  readonly priority?: number;
  readonly delayMs?: number;
  /** An instant in place of `delayMs`. */
  readonly runAt?: string | Date;
  /** The job expires at it unless it has started. */
  readonly startBy?: string | Date;
  /** Tries in all, at most those of the type. */
  readonly attempts?: number;
  readonly backoff?: { readonly type: 'fixed' | 'exponential'; readonly delayMs: number };
  /** Where the end of the job is told, in place of the tenant's webhook; of every end, unless `events` names some. */
  readonly webhook?: { readonly url: string; readonly events?: readonly WebhookEvent[] };
  /** Units, where the type takes them from the request. */
  readonly cost?: number;
  /** For an admin's key; that of the client unless stated. */
  readonly tenant?: string;
}

/** When a job is expected to start; every field is `null` once it has started, or when nobody can say. */
export interface StartPromise {
  /** 1 is the next of its bucket to start; `null` while delayed. */
  readonly position: number | null;
  /** RFC 3339. */
  readonly releaseAt: string | null;
  /** Milliseconds from the answer to `releaseAt`. */
  readonly waitMs: number | null;
  readonly basis: Basis | null;
  /** Of an estimate: the two instants between which nine of ten such jobs start, RFC 3339. */
  readonly releaseBetween: readonly [earliest: string, latest: string] | null;
  /** Counting stopped: far more than a thousand jobs are ahead. */
  readonly approximate?: true;
}

interface JobFields extends StartPromise {
  readonly id: string;
  readonly type: string;
  readonly tenant: string;
}

/** A job that was taken. */
export interface SubmittedJob extends JobFields {
  readonly state: JobState;
  /** It had been taken before, under the same idempotency key. */
  readonly replayed: boolean;
}

interface FullJob extends JobFields {
  readonly priority: number;
  readonly cost: number;
  /** Instants in RFC 3339, by the clock of Redis. */
  readonly createdAt: string | null;
  readonly startedAt: string | null;
  /** Milliseconds by which it started later than its admission promised; `null` until then. */
  readonly slipMs: number | null;
  readonly endedAt: string | null;
  readonly startBy: string | null;
  /** How often it was started. */
  readonly attempts: number;
  readonly cancelRequested: boolean;
  /** What the handler said last of how far it is. */
  readonly progress: unknown;
}

/** A job that has not ended. */
export interface OpenJob extends FullJob {
  readonly state: 'waiting' | 'delayed' | 'active';
}

/** A job whose handler returned. */
export interface CompletedJob<Result = unknown> extends FullJob {
  readonly state: 'completed';
  /** What the handler returned. Lists leave it out. */
  readonly result: Result;
}

/** A job that came to another end, and why. */
export interface LostJob extends FullJob {
  readonly state: 'failed' | 'expired' | 'cancelled';
  readonly error?: string;
}

/** A job that has ended, however it did: look at `state`. */
export type EndedJob<Result = unknown> = CompletedJob<Result> | LostJob;

/** A job as it is. */
export type Job<Result = unknown> = OpenJob | EndedJob<Result>;

/** A job in a list: without its result. */
export type ListedJob = OpenJob | Omit<CompletedJob, 'result'> | LostJob;

/** What cancelling came to: it never starts, or whoever runs it was asked to stop. */
export type Cancellation =
  | { readonly id: string; readonly state: 'cancelled' }
  | { readonly id: string; readonly state: 'active'; readonly cancelRequested: true };

/** One page of jobs, oldest first; `cursor` fetches the next and is absent on the last. */
export interface JobPage {
  readonly jobs: readonly ListedJob[];
  readonly cursor?: string;
}

/** Whether a job has come to an end. */
export function hasEnded<Result>(job: Job<Result>): job is EndedJob<Result> {
  return job.state !== 'waiting' && job.state !== 'delayed' && job.state !== 'active';
}

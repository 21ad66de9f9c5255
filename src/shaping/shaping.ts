import type { Capacity, Profile } from '../model/profile.js';
import type {
  Admission,
  BulkRetrial,
  Cancellation,
  JobPage,
  JobState,
  JobView,
  NewJob,
  Retrial,
  StartPromise,
} from '../model/verdict.js';

/** How many jobs a bucket may hold and holds, read-only. */
export interface BucketView {
  readonly type: string;
  readonly tenant: string;
  readonly profile: Profile;
  /** Cost units in the bucket now. */
  readonly level: number;
  readonly waiting: number;
  readonly delayed: number;
  readonly running: number;
  readonly waitingCost: number;
  readonly waitingBytes: number;
  /** Milliseconds until the bucket may start its next job; `null` when nothing waits or it is paused. */
  readonly nextStartMs: number | null;
  /** Units that it was served, a second, over about the last minute: what lies t back counts e^(−t / 60 s). */
  readonly servedPerSecond: number;
  /**
   * Its weighted max-min share of what the type served while it was ready, likewise. One that is ready without a pause is
   * served that, but for a job; one that is not may be served more, having asked when few others did.
   */
  readonly deservedPerSecond: number;
}

/** Buckets with something waiting, delayed or running, a page at a time. */
export interface BucketPage {
  readonly buckets: readonly BucketView[];
  /** Fetches the next page; absent on the last. */
  readonly cursor?: string;
}

/** A job type as a whole, read-only. */
export interface TypeView {
  readonly type: string;
  readonly capacity: Capacity;
  /** Buckets with something waiting. */
  readonly backloggedBuckets: number;
  /** Those that may start something now, if there were a slot. */
  readonly readyBuckets: number;
  readonly running: number;
  /** Units that all tenants were served, a second, over about the last minute. */
  readonly servedPerSecond: number;
  /** Milliseconds that a run takes on average; `null` until that was measured. */
  readonly meanRunMs: number | null;
  /** For how long something has been ready without a pause while nobody had a slot for it; `null` while workers are enough. */
  readonly scarceForMs: number | null;
}

/** A piece of a job's output. */
export interface OutputChunk {
  /** `<run>-<number>`: which start of the job it belongs to, and its place there; both from 1. */
  readonly id: string;
  /** JSON text. */
  readonly json: string;
}

/** What the door answered to the jobs of one bucket. */
export interface DoorAnswer {
  /** One verdict per job, in their order; none on the last ones where Redis was full before their turn, and nothing of them is stored. */
  readonly admissions: readonly Admission[];
  /** The bucket's depth, and how many places were free after the answer. */
  readonly depth: number;
  readonly freePlaces: number;
}

/** Jobs about which somebody asks when they would start. */
export interface QuotedJobs {
  readonly count: number;
  /** 0 starts first, 9 last. */
  readonly priority: number;
  /** Of each, in units. */
  readonly cost: number;
}

/** When a job would start. Milliseconds since 1970; `Infinity` while the bucket is paused. */
export type QuotedStart = Pick<StartPromise, 'releaseAtMs' | 'basis' | 'releaseBetweenMs'>;

/** When jobs would start that came now. */
export type Quote =
  | {
      readonly verdict: 'quoted';
      readonly first: QuotedStart;
      readonly last: QuotedStart;
      /** Milliseconds that a run takes on average; `null` until that was measured. */
      readonly meanRunMs: number | null;
      readonly depth: number;
      readonly freePlaces: number;
    }
  | { readonly verdict: 'cost_exceeds_max'; readonly max: number };

/** What a list of jobs is asked for. */
export interface JobFilter {
  readonly type: string;
  readonly tenant: string;
  readonly state: JobState;
  /** From a previous page; after one that is not, there is nothing. */
  readonly cursor?: string;
  /** Jobs per page, 1 to 100. */
  readonly limit: number;
}

/**
 * The door and the window of the shaped side: everything the API needs of it.
 *
 * Every method is one round trip (a bulk retry a few), and throws {@link ../redis/outage.ts RedisUnavailable} when Redis did not answer
 * within the deadline; nothing else is thrown for an expected outcome.
 */
export interface Shaping {
  /** Admits jobs of one bucket in their order: a prefix of them, all-or-nothing per job, atomically. One verdict each. */
  admit(type: string, tenant: string, jobs: readonly NewJob[]): Promise<DoorAnswer>;
  /** Which of these idempotency keys name a job of the bucket: to admit one of them again adds nothing. */
  knows(type: string, tenant: string, idempotencyKeys: readonly string[]): Promise<readonly boolean[]>;
  /** One job of `tenant`; `undefined` when there is none of that id (another tenant's job included). */
  job(tenant: string, id: string): Promise<JobView | undefined>;
  /**
   * What the latest run of a job has emitted behind the chunk `after` (its id; '' for the beginning), oldest first, at most
   * `limit` chunks.
   */
  output(tenant: string, id: string, after: string, limit: number): Promise<readonly OutputChunk[]>;
  /** Jobs of one bucket and state, oldest first, without their results, which may be large. */
  jobs(filter: JobFilter): Promise<JobPage>;
  /** Cancels a job that has not started; asks a running one to stop. */
  cancel(tenant: string, id: string): Promise<Cancellation>;
  /** Lets a failed job wait again, at the back of its priority: with all its attempts, within depth and bytes, at its rate. */
  retry(tenant: string, id: string): Promise<Retrial>;
  /** The same of many failed jobs of a bucket, those that failed first before the others. */
  retryFailed(filter: Omit<JobFilter, 'state'>): Promise<BulkRetrial>;
  /** When jobs would start that came now. Changes nothing. */
  quote(type: string, tenant: string, jobs: QuotedJobs): Promise<Quote>;
  /** The state of one bucket. */
  bucket(type: string, tenant: string): Promise<BucketView>;
  /**
   * Buckets of a type in no particular order, about `limit` of them. One that moves between pages may be in two or in none.
   *
   * @param cursor Of the page before; after one that is not, there is nothing.
   */
  buckets(type: string, cursor: string | undefined, limit: number): Promise<BucketPage>;
  /** The state of a type. */
  type(name: string): Promise<TypeView>;
  /** Answers when Redis does; throws RedisUnavailable when it does not. */
  ping(): Promise<void>;
}

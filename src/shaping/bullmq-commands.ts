import { describeScript, type Script } from '../redis/script.js';
import { readLibrary, type Verb } from '../redis/script-source.js';
import { STORED_FORMAT } from './stored-data.js';

/**
 * What becomes of each of BullMQ's commands on a shaped queue. Commands that change who may run next go through a script
 * of Headgate's that contains BullMQ's own; those that would slip past the schedule are refused; the rest only reads, or
 * writes what no schedule depends on.
 */
export type Treatment =
  | { readonly kind: 'pass' }
  | { readonly kind: 'refuse'; readonly instead: string }
  | {
      readonly kind: 'touch-job';
      readonly script: Script<unknown>;
      /** How many KEYS BullMQ's script takes. */
      readonly keys: number;
      /** Which of BullMQ's arguments (keys and argv in one list, from 0) is the job's id. */
      readonly idAt: number;
      /** Which of its ARGV, from 1, is the caller's clock; 0: none. */
      readonly timeAt: number;
    }
  | { readonly kind: 'touch-bucket'; readonly script: Script<unknown>; readonly keys: number };

const PASS: Treatment = { kind: 'pass' };
const refuse = (instead: string): Treatment => ({ kind: 'refuse', instead });

const ADMIT = refuse('add jobs with Queue.add or Queue.addBulk');
const POOL = refuse("jobs of a shaped queue are taken, renewed and settled by Headgate's pool");
const NO_FLOWS = refuse('flows and parents are not available');
const NO_SCHEDULERS = refuse('job schedulers are not available; add delayed jobs instead');
const NO_LIMITER = refuse("the tenant's profile sets rate and concurrency");

const touchJobVerb = (command: string): Verb => ({ file: 'touch_job', parameters: { command } });
const touchBucketVerb = (command: string): Verb => ({ file: 'touch_bucket', parameters: { command } });

const TOUCH_JOB = ['promote', 'reprocessJob', 'changeDelay', 'changePriority', 'removeJob'];
const TOUCH_BUCKET = ['drain', 'cleanJobsInSet', 'obliterate'];
const library = readLibrary([...TOUCH_JOB.map(touchJobVerb), ...TOUCH_BUCKET.map(touchBucketVerb)], {
  form: STORED_FORMAT,
});

const raw = (reply: unknown): unknown => reply;
const touchJob = (command: string, keys: number, idAt: number, timeAt = 0): Treatment => {
  const argv = ['now', 'tenant', 'profile', 'id', 'time_at', 'keys', 'bull...'];
  const script = describeScript(library, touchJobVerb(command), argv, raw);
  return { kind: 'touch-job', script, keys, idAt, timeAt };
};
const touchBucket = (command: string, keys: number): Treatment => {
  const script = describeScript(library, touchBucketVerb(command), ['now', 'tenant', 'keys', 'bull...'], raw);
  return { kind: 'touch-bucket', script, keys };
};

/** Every script of BullMQ that a queue's backend can call, by name. */
export const BULLMQ_COMMANDS: Readonly<Record<string, Treatment>> = {
  addStandardJob: ADMIT,
  addPrioritizedJob: ADMIT,
  addDelayedJob: ADMIT,

  moveToActive: POOL,
  moveToFinished: POOL,
  moveToDelayed: POOL,
  retryJob: POOL,
  moveJobFromActiveToWait: POOL,
  moveStalledJobsToWait: POOL,
  extendLock: POOL,
  extendLocks: POOL,
  releaseLock: POOL,

  promote: touchJob('promote', 9, 10),
  reprocessJob: touchJob('reprocessJob', 9, 9),
  changeDelay: touchJob('changeDelay', 4, 6, 2),
  changePriority: touchJob('changePriority', 7, 9),
  removeJob: touchJob('removeJob', 2, 2),

  drain: touchBucket('drain', 5),
  cleanJobsInSet: touchBucket('cleanJobsInSet', 3),
  obliterate: touchBucket('obliterate', 2),

  pause: refuse('pause and resume go through Headgate'),
  moveJobsToWait: refuse('Queue.promoteJobs and Queue.retryJobs go through promote and reprocessJob, job by job'),

  addParentJob: NO_FLOWS,
  moveToWaitingChildren: NO_FLOWS,
  releaseParentIfNoPendingDependencies: NO_FLOWS,
  removeChildDependency: NO_FLOWS,
  removeUnprocessedChildren: NO_FLOWS,
  addJobScheduler: NO_SCHEDULERS,
  updateJobScheduler: NO_SCHEDULERS,
  removeJobScheduler: NO_SCHEDULERS,
  removeOrphanedJobs: refuse('it cannot see the keys that queues of a shard share'),
  updateData: refuse("a payload's size is counted when the job is admitted"),
  removeDeduplicationKey: refuse('deduplication is not available; use an idempotency key'),

  isMaxed: NO_LIMITER,
  getRateLimitTtl: NO_LIMITER,

  addLog: PASS,
  saveStacktrace: PASS,
  updateProgress: PASS,
  getCounts: PASS,
  getCountsPerPriority: PASS,
  getDependencyCounts: PASS,
  getJobScheduler: PASS,
  getJobs: PASS,
  getMetrics: PASS,
  getRanges: PASS,
  getState: PASS,
  getStateV2: PASS,
  isFinished: PASS,
  isJobInList: PASS,
  paginate: PASS,
};

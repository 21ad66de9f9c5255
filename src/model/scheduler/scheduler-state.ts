import type { Rules } from './rules.js';
import { Schedule } from './schedule.js';
import { ScheduledBucket } from './scheduled-bucket.js';
import type { ScheduledJob } from './scheduled-job.js';
import { TypeState } from './type-state.js';
import { CLOCK_START, readClock, type VirtualClock } from './virtual-clock.js';

/** All that a scheduler knows, and the steps that several of its verbs share. Invariant: `type.running` is `runs.size`. */
export class SchedulerState {
  readonly rules: Rules;
  readonly type: TypeState;
  readonly schedule: Schedule;
  readonly buckets = new Map<string, ScheduledBucket>();
  /** Every job that was admitted, by tenant and id. */
  readonly jobs = new Map<string, ScheduledJob>();
  /** What runs, by the token under which it was dispatched. */
  readonly runs = new Map<string, ScheduledJob>();
  clock: VirtualClock = CLOCK_START;

  constructor(rules: Rules) {
    this.rules = rules;
    this.type = new TypeState(rules);
    this.schedule = new Schedule(rules);
  }

  get nowUs(): number {
    return this.clock.nowUs;
  }

  /** It is `rawUs` by the clock that all share. */
  advance(rawUs: number): void {
    this.clock = readClock(this.clock, rawUs);
  }

  bucket(tenant: string): ScheduledBucket {
    const known = this.buckets.get(tenant);
    if (known) return known;
    const bucket = new ScheduledBucket(tenant);
    this.buckets.set(tenant, bucket);
    return bucket;
  }

  job(tenant: string, id: string): ScheduledJob | undefined {
    return this.jobs.get(`${tenant} ${id}`);
  }

  keep(job: ScheduledJob): void {
    this.jobs.set(`${job.tenant} ${job.id}`, job);
  }

  /** Puts a bucket where it belongs. */
  place(bucket: ScheduledBucket): void {
    this.type.running = this.runs.size;
    if (this.schedule.place(bucket, this.nowUs)) this.type.becomeBacklogged(this.nowUs);
  }

  /** The run ends; its job is in no list until the caller puts it into one. */
  endRun(token: string, job: ScheduledJob): ScheduledBucket {
    const bucket = this.bucket(job.tenant);
    this.runs.delete(token);
    bucket.active.delete(job);
    return bucket;
  }

  /** Jobs whose start-by has come end as expired, at most `limit`, the earliest first. They use no rate. */
  expireOverdue(limit: number): void {
    const overdue = [...this.jobs.values()]
      .filter((job) => (job.startByUs ?? Infinity) <= this.nowUs)
      .sort((one, other) => startBy(one) - startBy(other) || (memberOf(one) < memberOf(other) ? -1 : 1));
    for (const job of overdue.slice(0, limit)) {
      this.endWaiting(job, 'expired');
      this.place(this.bucket(job.tenant));
    }
  }

  /** A job that waits or is delayed ends; false when it is neither. The caller places the bucket. */
  endWaiting(job: ScheduledJob, ending: 'expired' | 'cancelled'): boolean {
    const bucket = this.bucket(job.tenant);
    if (!bucket.backlog.remove(job)) return false;
    const { cost, charged } = job;
    if (charged) bucket.state = this.rules.unchargeJob(bucket.state, bucket.terms.pace, { cost, charged }, this.nowUs);
    job.charged = undefined;
    job.state = ending;
    job.startByUs = undefined;
    return true;
  }
}

function startBy(job: ScheduledJob): number {
  return job.startByUs ?? Infinity;
}

function memberOf(job: ScheduledJob): string {
  return `${job.tenant} ${job.id}`;
}

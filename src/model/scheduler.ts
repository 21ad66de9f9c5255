import { type Dispatched, dispatchNext } from './scheduler/dispatch-next.js';
import { Door, type DoorVerdict, type Promised } from './scheduler/door.js';
import { endRun, type RunOutcome, takeBack } from './scheduler/end-run.js';
import { RULES, type Rules } from './scheduler/rules.js';
import { correctCost } from './scheduler/running-charge.js';
import type { JobOffer, ScheduledJob } from './scheduler/scheduled-job.js';
import { SchedulerState } from './scheduler/scheduler-state.js';
import type { BucketTerms, TypeTerms } from './scheduler/terms.js';
import { readClock } from './scheduler/virtual-clock.js';
import type { Cancellation } from './verdict.js';

const EXPIRED_AT_THE_DOOR = 100;
const PROMOTED_AT_THE_DOOR = 1000;

/** What the door answered to jobs of one bucket. */
export interface DoorReply {
  readonly depth: number;
  readonly freePlaces: number;
  readonly verdicts: readonly DoorVerdict[];
}

/**
 * The reference scheduler of one job type: what the scripts on Redis do, without Redis. It is synchronous and
 * deterministic; every verb is told what time it is, in microseconds of one clock that may step back.
 *
 * Every verb ends with putting the buckets that it touched where they belong (see `Schedule.place`). Nothing is scanned,
 * so a bucket that becomes startable by time alone is found by the next dispatch.
 */
export class Scheduler {
  readonly #all: SchedulerState;

  constructor(rules: Rules = RULES) {
    this.#all = new SchedulerState(rules);
  }

  /** Everything that it knows, to be looked at. */
  get state(): SchedulerState {
    return this.#all;
  }

  /** The type's capacity from now on. */
  configure(rawUs: number, terms: TypeTerms): void {
    this.#all.advance(rawUs);
    this.#all.type.apply(terms, this.#all.nowUs);
  }

  /** Lets jobs of one bucket in, in their order, or says why not; the first that does not fit closes the door. */
  admit(rawUs: number, tenant: string, terms: BucketTerms, offers: readonly JobOffer[]): DoorReply {
    const all = this.#all;
    all.advance(rawUs);
    all.expireOverdue(EXPIRED_AT_THE_DOOR);
    const bucket = all.bucket(tenant);
    bucket.apply(terms, all.rules, all.nowUs);
    bucket.backlog.promote(all.nowUs, PROMOTED_AT_THE_DOOR);
    const door = new Door(bucket, all.type, all.schedule, all.rules, all.nowUs);
    const verdicts = offers.map((offer) => this.#receive(door, tenant, offer));
    all.place(bucket);
    const { depth } = terms;
    return { depth, freePlaces: Math.max(0, depth - bucket.backlog.size), verdicts };
  }

  /** Hands the fairest ready job of any tenant to a worker; the same token is answered with the same job. */
  dispatch(rawUs: number, token: string, limit: number): Dispatched {
    const again = this.#held(token);
    if (again) return again;
    this.#all.advance(rawUs);
    this.#all.expireOverdue(limit);
    return dispatchNext(this.#all, token, limit);
  }

  /** Ends the run of a job under `token` and, when `next` is given, hands out the next one under it. */
  settle(
    rawUs: number,
    run: { readonly token: string; readonly tenant: string; readonly id: string; readonly outcome: RunOutcome },
    limit: number,
    next?: string,
  ): { readonly verdict: 'settled' | 'lost'; readonly next: Dispatched } {
    const all = this.#all;
    all.advance(rawUs);
    const job = all.job(run.tenant, run.id);
    let settled = job?.settledBy === run.token;
    if (job && all.runs.get(run.token) === job) {
      const bucket = endRun(all, run.token, job, run.outcome);
      bucket.backlog.promote(all.nowUs, limit);
      all.place(bucket);
      settled = true;
    }
    return { verdict: settled ? 'settled' : 'lost', next: this.#goOn(next, limit) };
  }

  /** What the job under `token` costs is known better now; the last word counts. False when nothing runs under it. */
  charge(rawUs: number, token: string, cost: number): boolean {
    const all = this.#all;
    const job = all.runs.get(token);
    if (!job) return false;
    if (cost === job.cost) return true;
    all.advance(rawUs);
    correctCost(all, job, cost);
    all.place(all.bucket(job.tenant));
    return true;
  }

  /** Ends a job that has not started, or asks a running one to stop. */
  cancel(rawUs: number, tenant: string, id: string): Cancellation {
    const all = this.#all;
    const job = all.job(tenant, id);
    if (!job) return 'not_found';
    if (job.state === 'active') {
      job.cancelRequested = true;
      return 'cancel_requested';
    }
    if (job.state !== 'waiting' && job.state !== 'delayed') return 'already_ended';
    all.advance(rawUs);
    all.endWaiting(job, 'cancelled');
    all.place(all.bucket(tenant));
    return 'cancelled';
  }

  /** Other terms for a bucket, while its jobs wait: the level stays, the gate moves. False when nothing changed. */
  retime(rawUs: number, tenant: string, terms: BucketTerms): boolean {
    const bucket = this.#all.bucket(tenant);
    const nowUs = readClock(this.#all.clock, rawUs).nowUs;
    if (!bucket.apply(terms, this.#all.rules, nowUs)) return false;
    this.#all.advance(rawUs);
    this.#all.place(bucket);
    return true;
  }

  /** A bucket starts nothing more, or goes on. What runs is left alone. */
  pause(rawUs: number, tenant: string, stopped: boolean): void {
    this.#all.advance(rawUs);
    const bucket = this.#all.bucket(tenant);
    bucket.stopped = stopped;
    this.#all.place(bucket);
  }

  /** Takes back what runs under locks that ran out. Jobs that wait again and jobs that ended. */
  recover(rawUs: number, lostTokens: readonly string[], maxStalled: number): readonly ScheduledJob[] {
    const all = this.#all;
    if (!lostTokens.some((token) => all.runs.has(token))) return [];
    all.advance(rawUs);
    const jobs = lostTokens.flatMap((token) => takeBack(all, token, maxStalled) ?? []);
    all.schedule.rest(all.runs.size);
    return jobs;
  }

  /** When a job that waits is going to start, and where it stands; `undefined` for any other. Changes nothing. */
  promiseOf(rawUs: number, tenant: string, id: string): (Promised & { readonly position: number }) | undefined {
    const all = this.#all;
    const job = all.job(tenant, id);
    if (job?.state !== 'waiting') return undefined;
    const bucket = all.bucket(tenant);
    const before = bucket.backlog.before(job);
    const { nowUs } = readClock(all.clock, rawUs);
    const door = new Door(bucket, all.type, all.schedule, all.rules, nowUs);
    return { ...door.promise(before, job.charged !== undefined), position: before.jobs + 1 };
  }

  #receive(door: Door, tenant: string, offer: JobOffer): DoorVerdict {
    const all = this.#all;
    if (all.job(tenant, offer.id)) return { kind: 'replayed', id: offer.id };
    // A delay counts from a whole millisecond. It is a lower bound, so that is the next one.
    const dueAtUs = offer.delayMs > 0 ? (Math.ceil(all.nowUs / 1000) + offer.delayMs) * 1000 : all.nowUs;
    const startByUs = offer.startByUs === undefined ? undefined : offer.startByUs + all.clock.offsetUs;
    const { verdict, guess } = door.judge(offer, dueAtUs, startByUs);
    if (verdict.kind !== 'admitted') return verdict;
    const { id, priority, cost, bytes } = offer;
    const fresh = {
      order: 0,
      dueAtUs,
      joinsAt: 'back' as const,
      charged: undefined,
      marks: undefined,
      guess: guess && { ...guess, atUs: all.nowUs },
      startedAtUs: undefined,
      cancelRequested: false,
      stalls: 0,
      settledBy: undefined,
    };
    const job: ScheduledJob = { id, tenant, priority, cost, bytes, state: verdict.state, startByUs, ...fresh };
    all.keep(job);
    const bucket = all.bucket(tenant);
    if (bucket.terms.mode === 'police') {
      bucket.state = all.rules.chargeJob(bucket.state, bucket.terms.pace, cost, all.nowUs);
      job.charged = bucket.state;
    }
    const { backlog } = bucket;
    if (offer.delayMs > 0) backlog.delay(job, dueAtUs, 'back');
    else backlog.join(job, 'back');
    return verdict;
  }

  #goOn(next: string | undefined, limit: number): Dispatched {
    if (next === undefined) {
      this.#all.schedule.rest(this.#all.runs.size);
      return { kind: 'nothing', waitUs: null };
    }
    const again = this.#held(next);
    if (again) return again;
    this.#all.expireOverdue(limit);
    return dispatchNext(this.#all, next, limit);
  }

  #held(token: string): Dispatched | undefined {
    const job = this.#all.runs.get(token);
    return job && { kind: 'job', tenant: job.tenant, id: job.id };
  }
}

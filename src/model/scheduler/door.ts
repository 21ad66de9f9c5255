import type { Ahead, BucketState, Pace } from '../bucket.js';
import { type Guess, SCARCE_AFTER_US, type WaitRange } from '../service.js';
import type { Basis } from '../verdict.js';
import type { Before } from './backlog.js';
import { Outlook } from './outlook.js';
import type { Rules } from './rules.js';
import type { Schedule } from './schedule.js';
import type { ScheduledBucket } from './scheduled-bucket.js';
import type { JobOffer } from './scheduled-job.js';
import type { TypeState } from './type-state.js';
import { NEVER_US, wholeUs } from './whole-us.js';

/** What the door says of one job; waits in whole microseconds. */
export type DoorVerdict =
  | {
      readonly kind: 'admitted';
      readonly id: string;
      readonly state: 'waiting' | 'delayed';
      /** 1 is the next to start in its bucket; 0 while delayed. */
      readonly position: number;
      readonly waitUs: number;
      readonly basis: Basis;
      readonly between: WaitRange | null;
    }
  | { readonly kind: 'replayed'; readonly id: string }
  | {
      readonly kind: 'rejected';
      readonly reason:
        | 'cost_exceeds_max'
        | 'rate_limited'
        | 'bucket_full'
        | 'wait_too_long'
        | 'deadline_unreachable'
        | 'deadline_past';
      /** `depth` or `maxBytes` of a full bucket; the greatest cost that can pass. */
      readonly limit: string;
      /** Until it makes sense to try again; `null` when nothing is going to leave. */
      readonly retryUs: number | null;
      readonly waitUs: number;
    };

type Rejected = DoorVerdict & { readonly kind: 'rejected' };

/** When a job starts that stands behind `before`, at the bucket's own rate and by what else is known. */
export interface Promised {
  readonly ownWaitUs: number;
  readonly waitUs: number;
  readonly basis: Basis;
  /** Of an estimate. */
  readonly between: WaitRange | null;
  readonly guess: Guess | undefined;
}

/** What the door sees at one instant. Reads the schedule, changes nothing. */
export class Door {
  readonly #bucket: ScheduledBucket;
  readonly #type: TypeState;
  readonly #schedule: Schedule;
  readonly #rules: Rules;
  readonly #nowUs: number;
  readonly #backlogged: boolean;
  readonly #scarce: boolean;
  readonly #outlook: Outlook;
  /** The first job that did not fit closes the door for those behind it. */
  #closed: Rejected | undefined;

  constructor(bucket: ScheduledBucket, type: TypeState, schedule: Schedule, rules: Rules, nowUs: number) {
    this.#bucket = bucket;
    this.#type = type;
    this.#schedule = schedule;
    this.#rules = rules;
    this.#nowUs = nowUs;
    this.#backlogged = bucket.backlogged;
    this.#scarce = this.#isScarce();
    this.#outlook = new Outlook(bucket, type, schedule);
  }

  /** The verdict on a job that joins at `dueAtUs`, now or later, and what was estimated. `startByUs` is by virtual now. */
  judge(offer: JobOffer, dueAtUs: number, startByUs: number | undefined): { verdict: DoorVerdict; guess?: Guess } {
    const { mode } = this.#bucket.terms;
    const max = this.#bucket.maxPolicedCost;
    // It would be refused at any time, so it says nothing of the jobs behind it.
    if (mode === 'police' && offer.cost > max)
      return { verdict: { ...rejected('cost_exceeds_max'), limit: String(max) } };
    const before = this.#bucket.backlog.beforeEndOf(offer.priority);
    // What the last unpaid job before it costs, nobody looks at.
    const isKnown = before.isKnown && (mode === 'shape' || before.unpaid.jobs === 0);
    const promised = this.promise({ ...before, isKnown }, mode === 'police');
    const delayUs = dueAtUs - this.#nowUs;
    const ownWaitUs = Math.max(delayUs, promised.ownWaitUs);
    const late = startByUs === undefined ? undefined : this.#tooLate(startByUs, ownWaitUs);
    if (late) return { verdict: late };
    this.#closed ??= this.#notFitting(offer, ownWaitUs, delayUs);
    if (this.#closed) return { verdict: this.#closed };
    const { id } = offer;
    if (offer.delayMs > 0) {
      const delayed = { state: 'delayed', position: 0, waitUs: wholeUs(ownWaitUs), basis: 'delay' } as const;
      return { verdict: { kind: 'admitted', id, ...delayed, between: null } };
    }
    const { waitUs, basis, between, guess } = promised;
    const waiting = { state: 'waiting', position: before.jobs + 1, waitUs: wholeUs(waitUs) } as const;
    return { verdict: { kind: 'admitted', id, ...waiting, basis, between }, ...(guess && { guess }) };
  }

  /** When a job starts that stands behind `before`; one that is paid waits only for the last unpaid one before it. */
  promise(before: Before, isPaid: boolean): Promised {
    const { pace } = this.#bucket.terms;
    const now = this.#nowUs;
    const ownWaitUs = this.#ownWaitUs(before, isPaid);
    const overall = { ...before, backlogged: this.#schedule.busySinceUs !== undefined };
    const typeState = { ...this.#type.state, jobTatUs: 0 };
    const typeWaitUs = this.#etaUs(typeState, this.#type.pace, this.#type.heldUntilUs, overall) - now;
    // Nobody knows when what is paused goes on.
    const known = { ownWaitUs, between: null, guess: undefined };
    if (this.#bucket.paused || this.#type.paused) return { ...known, waitUs: NEVER_US, basis: 'capacity' };
    const limited = pace.emissionUs > 0 || pace.jobEmissionUs > 0;
    const unsure = this.#scarce || !before.isKnown || (isPaid && this.#lacksSlot(before.jobs));
    if (limited && ownWaitUs >= typeWaitUs && !unsure) return { ...known, waitUs: ownWaitUs, basis: 'rate' };
    const leastUs = Math.max(ownWaitUs, typeWaitUs);
    return { ownWaitUs, basis: 'capacity', ...this.#outlook.estimate(leastUs, before, this.#scarce) };
  }

  /** Until the bucket starts its next job, which frees a place; `null` when none is going to leave. */
  nextPlaceUs(): number | null {
    const { backlog, heldUntilUs, paused } = this.#bucket;
    const [delayed] = backlog.delayed;
    if (paused || (backlog.waiting.length === 0 && !delayed)) return null;
    const startableAtUs = this.#bucket.startableAtUs(this.#rules);
    if (backlog.waiting.length > 0 || !delayed) return wholeUs(startableAtUs - this.#nowUs);
    const byRateUs = delayed.charged ? heldUntilUs : startableAtUs;
    return wholeUs(Math.max(byRateUs, delayed.dueAtUs) - this.#nowUs);
  }

  #ownWaitUs({ unpaid: { jobs, cost, lastCost } }: Before, isPaid: boolean): number {
    if (isPaid && jobs === 0) return Math.max(0, this.#bucket.heldUntilUs - this.#nowUs);
    const ahead = isPaid ? { cost: Math.max(0, cost - lastCost), jobs: jobs - 1 } : { cost, jobs };
    const { state, terms, heldUntilUs } = this.#bucket;
    return this.#etaUs(state, terms.pace, heldUntilUs, { ...ahead, backlogged: this.#backlogged }) - this.#nowUs;
  }

  /** What is held starts again at the end of that, late by what it was held. */
  #etaUs({ tatUs, jobTatUs }: BucketState, pace: Pace, heldUntilUs: number, ahead: Ahead): number {
    const floorUs = heldUntilUs - pace.slackUs;
    const state = { tatUs: Math.max(tatUs, floorUs), jobTatUs: Math.max(jobTatUs, floorUs) };
    return Math.max(heldUntilUs, this.#rules.etaUs(state, pace, ahead, this.#nowUs));
  }

  /** Whether the slots that the bucket and the type may have are too few for a job behind `jobs` others, if all start at once. */
  #lacksSlot(jobs: number): boolean {
    const { active, terms } = this.#bucket;
    const { running, concurrency } = this.#type;
    return (
      !this.#rules.hasSlot(active.size + jobs, terms.concurrency) || !this.#rules.hasSlot(running + jobs, concurrency)
    );
  }

  #tooLate(startByUs: number, ownWaitUs: number): Rejected | undefined {
    if (startByUs <= this.#nowUs) return rejected('deadline_past');
    if (this.#nowUs + ownWaitUs < startByUs) return undefined;
    return { ...rejected('deadline_unreachable'), waitUs: wholeUs(ownWaitUs) };
  }

  #notFitting(offer: JobOffer, ownWaitUs: number, delayUs: number): Rejected | undefined {
    const { backlog, terms } = this.#bucket;
    const untilUs = terms.mode === 'police' ? this.#untilConformingUs(offer.cost) : 0;
    if (untilUs !== 0) return { ...rejected('rate_limited'), retryUs: untilUs === null ? null : wholeUs(untilUs) };
    if (backlog.size + 1 > terms.depth) {
      return { ...rejected('bucket_full'), limit: 'depth', retryUs: this.nextPlaceUs() };
    }
    if (backlog.bytes + offer.bytes > terms.maxBytes) {
      return { ...rejected('bucket_full'), limit: 'maxBytes', retryUs: this.nextPlaceUs() };
    }
    const excessUs = ownWaitUs - delayUs - terms.maxWaitUs;
    if (excessUs <= 0) return undefined;
    return { ...rejected('wait_too_long'), retryUs: wholeUs(excessUs), waitUs: wholeUs(ownWaitUs) };
  }

  /** `null` while the rate is 0: nobody knows until when. */
  #untilConformingUs(cost: number): number | null {
    const { hasNoRate, state, terms } = this.#bucket;
    return hasNoRate ? null : this.#rules.untilConformingUs(state, terms.pace, cost, this.#nowUs);
  }

  /** Others wait for workers, a cap is reached or an upstream is busy: the bucket's own rate is not what decides. */
  #isScarce(): boolean {
    const { active, paused, terms } = this.#bucket;
    const { running, concurrency } = this.#type;
    const { busySinceUs } = this.#schedule;
    if (paused || this.#type.paused) return true;
    if (Math.max(this.#bucket.heldUntilUs, this.#type.heldUntilUs) > this.#nowUs) return true;
    if (!this.#rules.hasSlot(active.size, terms.concurrency) || !this.#rules.hasSlot(running, concurrency)) return true;
    return busySinceUs !== undefined && this.#nowUs - busySinceUs > SCARCE_AFTER_US;
  }
}

function rejected(reason: Rejected['reason']): Rejected {
  return { kind: 'rejected', reason, limit: '', retryUs: null, waitUs: 0 };
}

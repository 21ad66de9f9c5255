import type { Basis } from '../verdict.js';
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
    }
  | { readonly kind: 'replayed'; readonly id: string }
  | {
      readonly kind: 'rejected';
      readonly reason: 'bucket_full' | 'wait_too_long' | 'deadline_unreachable' | 'deadline_past';
      readonly limit: 'depth' | 'maxBytes' | '';
      /** Until it makes sense to try again; `null` when nothing is going to leave. */
      readonly retryUs: number | null;
      readonly waitUs: number;
    };

type Rejected = DoorVerdict & { readonly kind: 'rejected' };

/** Something ready for longer than this says that workers are scarce. */
const SCARCE_AFTER_US = 50_000;

/** When a job starts that stands behind `before`, at the bucket's own rate and by what else is known. */
export interface Promised {
  readonly ownWaitUs: number;
  readonly waitUs: number;
  readonly basis: Basis;
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
  }

  /** The verdict on a job that joins at `dueAtUs`, now or later. `startByUs` is by virtual now. */
  judge(offer: JobOffer, dueAtUs: number, startByUs: number | undefined): DoorVerdict {
    const before = this.#bucket.backlog.before({ endOf: offer.priority });
    const promised = this.promise(before);
    const delayUs = dueAtUs - this.#nowUs;
    const ownWaitUs = Math.max(delayUs, promised.ownWaitUs);
    const late = startByUs === undefined ? undefined : this.#tooLate(startByUs, ownWaitUs);
    if (late) return late;
    this.#closed ??= this.#notFitting(offer, ownWaitUs, delayUs);
    if (this.#closed) return this.#closed;
    if (offer.delayMs > 0) {
      return {
        kind: 'admitted',
        id: offer.id,
        state: 'delayed',
        position: 0,
        waitUs: wholeUs(ownWaitUs),
        basis: 'delay',
      };
    }
    const { waitUs, basis } = promised;
    const position = before.jobs + 1;
    return { kind: 'admitted', id: offer.id, state: 'waiting', position, waitUs: wholeUs(waitUs), basis };
  }

  /** When a job starts that stands behind `before`. */
  promise(before: { readonly cost: number; readonly jobs: number }): Promised {
    const { pace } = this.#bucket.terms;
    const now = this.#nowUs;
    const ahead = { ...before, backlogged: this.#backlogged };
    const ownWaitUs = this.#rules.etaUs(this.#bucket.state, pace, ahead, now) - now;
    const overall = { ...before, backlogged: this.#schedule.busySinceUs !== undefined };
    const typeState = { ...this.#type.state, jobTatUs: 0 };
    const typeWaitUs = this.#rules.etaUs(typeState, this.#type.pace, overall, now) - now;
    // Nobody knows when what is paused goes on.
    if (this.#bucket.paused || this.#type.paused) return { ownWaitUs, waitUs: NEVER_US, basis: 'capacity' };
    const limited = pace.emissionUs > 0 || pace.jobEmissionUs > 0;
    const basis = limited && ownWaitUs >= typeWaitUs && !this.#scarce ? 'rate' : 'capacity';
    return { ownWaitUs, waitUs: Math.max(ownWaitUs, typeWaitUs), basis };
  }

  /** Until the bucket starts its next job, which frees a place; `null` when none is going to leave. */
  nextPlaceUs(): number | null {
    const { backlog, paused, state, terms } = this.#bucket;
    const startableAtUs = this.#rules.startableAtUs(state, terms.pace);
    const joinsAtUs = backlog.waiting.length > 0 ? startableAtUs : backlog.delayed[0]?.dueAtUs;
    if (paused || joinsAtUs === undefined) return null;
    return wholeUs(Math.max(startableAtUs, joinsAtUs) - this.#nowUs);
  }

  #tooLate(startByUs: number, ownWaitUs: number): Rejected | undefined {
    if (startByUs <= this.#nowUs) return rejected('deadline_past');
    if (this.#nowUs + ownWaitUs < startByUs) return undefined;
    return { ...rejected('deadline_unreachable'), waitUs: wholeUs(ownWaitUs) };
  }

  #notFitting(offer: JobOffer, ownWaitUs: number, delayUs: number): Rejected | undefined {
    const { backlog, terms } = this.#bucket;
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

  /** Others wait for workers, or a cap is reached: the bucket's own rate is not what decides. */
  #isScarce(): boolean {
    const { active, paused, terms } = this.#bucket;
    const { running, concurrency } = this.#type;
    const { busySinceUs } = this.#schedule;
    if (paused || this.#type.paused) return true;
    if (!this.#rules.hasSlot(active.size, terms.concurrency) || !this.#rules.hasSlot(running, concurrency)) return true;
    return busySinceUs !== undefined && this.#nowUs - busySinceUs > SCARCE_AFTER_US;
  }
}

function rejected(reason: Rejected['reason']): Rejected {
  return { kind: 'rejected', reason, limit: '', retryUs: null, waitUs: 0 };
}

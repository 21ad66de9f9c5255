import {
  BEHIND_URGENT,
  bandOf,
  calibrated,
  type Guess,
  gapUs,
  hasPace,
  meanRunUs,
  turnUs,
  type WaitRange,
} from '../service.js';
import type { Before } from './backlog.js';
import type { Schedule } from './schedule.js';
import type { ScheduledBucket } from './scheduled-bucket.js';
import type { TypeState } from './type-state.js';
import { NEVER_US, wholeUs } from './whole-us.js';

/** A wait by measured service: the likeliest, and between which two it lies nine times out of ten. */
export interface Estimate {
  readonly waitUs: number;
  readonly between: WaitRange | null;
  /** Before it was corrected by how well estimates went till now. */
  readonly guess: Guess | undefined;
}

/** What measured service says of the starts of one bucket. Reads, changes nothing. */
export class Outlook {
  readonly #bucket: ScheduledBucket;
  readonly #type: TypeState;
  readonly #schedule: Schedule;

  constructor(bucket: ScheduledBucket, type: TypeState, schedule: Schedule) {
    this.#bucket = bucket;
    this.#type = type;
    this.#schedule = schedule;
  }

  /**
   * When a job behind `before` starts, which waits for `leastUs` at least. Where workers are scarce it also waits for the next
   * start of anybody. Without anything measured: that least, and no range.
   */
  estimate(leastUs: number, before: Before, isScarce: boolean): Estimate {
    const guess = this.#guess(leastUs, before, isScarce);
    if (!guess) return { waitUs: leastUs, between: null, guess };
    const { low, middle, high } = calibrated(this.#type.service, guess);
    const waitUs = Math.max(leastUs, middle);
    const between = { earliestUs: wholeUs(Math.min(low, waitUs)), latestUs: wholeUs(Math.max(high, waitUs)) };
    return { waitUs, between, guess };
  }

  #guess(leastUs: number, before: Before, isScarce: boolean): Guess | undefined {
    const { service } = this.#type;
    const { concurrency } = this.#bucket.terms;
    const bySlotUs = this.#slotUs(before.jobs);
    if (!hasPace(service)) {
      if (bySlotUs <= 0) return undefined;
      return {
        waitUs: Math.min(NEVER_US, Math.max(leastUs, bySlotUs)),
        band: bandOf(bySlotUs, meanRunUs(service) / concurrency),
      };
    }
    const gap = gapUs(service);
    const leastWaitUs = Math.min(NEVER_US, Math.max(leastUs, bySlotUs, this.#turnUs(before.cost)));
    const waitUs = leastWaitUs + (isScarce ? gap : 0);
    return { waitUs, band: before.isUrgent ? BEHIND_URGENT : bandOf(waitUs, gap) };
  }

  /** Until virtual time comes to the tag of a job behind `cost` of its bucket. */
  #turnUs(cost: number): number {
    const { finish, terms } = this.#bucket;
    const { fair, ready, weights } = this.#schedule;
    const advance = Math.max(0, finish - fair.virtualTime) + cost / terms.weight;
    return turnUs(this.#type.service, advance, weights, ready.has(this.#bucket) ? 0 : terms.weight);
  }

  /** Until a slot of the bucket's own concurrency is free for a job behind `jobs` others. */
  #slotUs(jobs: number): number {
    const { active, terms } = this.#bucket;
    const excess = Math.max(0, jobs + active.size + 1 - terms.concurrency);
    return (excess * meanRunUs(this.#type.service)) / terms.concurrency;
  }
}

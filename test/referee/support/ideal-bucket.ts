import { intervalMs, type Terms, termsFrom } from '../contract.js';
import type { StatedTerms } from '../trace.js';
import type { Arrival } from './scenario.js';

/** A job that waits in an ideal bucket. */
export interface Waiting {
  readonly id: string;
  readonly arrival: Arrival;
  readonly attempt: number;
}

interface Tats {
  readonly units: number;
  readonly jobs: number;
}

/** The design's arithmetic to the letter, for one bucket that is told every instant. */
export class IdealBucket {
  readonly tenant: string;
  terms: Terms;
  finish = 0;
  running = 0;
  waiting: readonly Waiting[] = [];
  delayed: readonly Waiting[] = [];
  readonly #statedSlackMs: number | undefined;
  #tats: Tats = { units: 0, jobs: 0 };

  constructor(tenant: string, stated: StatedTerms, statedSlackMs: number | undefined) {
    this.tenant = tenant;
    this.terms = termsFrom(stated, statedSlackMs);
    this.#statedSlackMs = statedSlackMs;
  }

  /** When the rate lets the next job start. */
  get dueAt(): number {
    return this.#due(this.#tats);
  }

  get full(): boolean {
    return this.waiting.length + this.delayed.length >= this.terms.depth;
  }

  get rated(): boolean {
    return this.terms.ratePerSecond !== Infinity || this.terms.jobRatePerSecond !== Infinity;
  }

  /** Puts a job behind its priority, or before it. */
  join(job: Waiting, now: number, place: 'front' | 'back'): void {
    if (this.waiting.length === 0) this.#tats = this.#backlogged(now);
    const { priority } = job.arrival;
    const stays = (other: Waiting) =>
      place === 'back' ? other.arrival.priority <= priority : other.arrival.priority < priority;
    const at = this.waiting.findLastIndex(stays) + 1;
    this.waiting = this.waiting.toSpliced(at, 0, job);
  }

  /** Takes the next job out and charges it. */
  take(now: number): Waiting {
    const [job, ...rest] = this.waiting;
    if (job === undefined) throw new Error('nothing waits');
    this.waiting = rest;
    this.#tats = this.#charged(this.#tats, job.arrival.cost, now);
    return job;
  }

  /** Removes a job that has not started; false when it is not here. */
  drop(id: string): boolean {
    const before = this.waiting.length + this.delayed.length;
    this.waiting = this.waiting.filter((job) => job.id !== id);
    this.delayed = this.delayed.filter((job) => job.id !== id);
    return this.waiting.length + this.delayed.length < before;
  }

  /** When a job of this priority, admitted now, will start if a slot is always free. */
  promise(priority: number, now: number): number {
    let tats = this.waiting.length === 0 ? this.#backlogged(now) : this.#tats;
    for (const { arrival } of this.waiting) {
      if (arrival.priority > priority) break;
      tats = this.#charged(tats, arrival.cost, Math.max(now, this.#due(tats)));
    }
    return Math.max(now, this.#due(tats));
  }

  /** Changes the terms and keeps the level. */
  retune(stated: StatedTerms, now: number): void {
    const before = this.terms;
    this.terms = termsFrom(stated, this.#statedSlackMs, before);
    const rescaled = (tat: number, from: number, to: number) => {
      if (tat <= now || intervalMs(from) === 0) return tat;
      return now + ((tat - now) * intervalMs(to)) / intervalMs(from);
    };
    this.#tats = {
      units: rescaled(this.#tats.units, before.ratePerSecond, this.terms.ratePerSecond),
      jobs: rescaled(this.#tats.jobs, before.jobRatePerSecond, this.terms.jobRatePerSecond),
    };
  }

  #due({ units, jobs }: Tats): number {
    return Math.max(units - (this.terms.burst - 1) * intervalMs(this.terms.ratePerSecond), jobs);
  }

  #backlogged(now: number): Tats {
    return { units: Math.max(this.#tats.units, now), jobs: Math.max(this.#tats.jobs, now) };
  }

  #charged({ units, jobs }: Tats, cost: number, now: number): Tats {
    const floor = now - this.terms.slackMs;
    return {
      units: Math.max(units, floor) + cost * intervalMs(this.terms.ratePerSecond),
      jobs: Math.max(jobs, floor) + intervalMs(this.terms.jobRatePerSecond),
    };
  }
}

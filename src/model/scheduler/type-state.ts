import { type BucketState, EMPTY_BUCKET, type Pace } from '../bucket.js';
import { NO_SERVICE, type Service } from '../service.js';
import type { Rules } from './rules.js';
import type { TypeTerms } from './terms.js';

/** The type as a whole: a bucket of its own, over all tenants, and a cap on what runs. */
export class TypeState {
  state: BucketState = EMPTY_BUCKET;
  /** Jobs that run now, over all tenants. */
  running = 0;
  paused = false;
  /** Nothing starts before this instant, because its upstream is busy. */
  heldUntilUs = 0;
  concurrency = 1e15;
  /** What was measured of the service that jobs get. */
  service: Service = NO_SERVICE;
  #pace: Pace = { emissionUs: 0, jobEmissionUs: 0, burst: 1, slackUs: 25_000 };
  readonly #rules: Rules;

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  get pace(): Pace {
    return this.#pace;
  }

  /** Another capacity holds from now on; the level stays. A rate of 0 leaves the interval as it was. */
  apply({ emissionUs, burst, concurrency, slackUs }: TypeTerms, nowUs: number): void {
    this.paused = emissionUs === Infinity;
    const pace = { emissionUs: this.paused ? this.#pace.emissionUs : emissionUs, jobEmissionUs: 0, burst, slackUs };
    this.state = this.#rules.reRate(this.state, this.#pace, pace, nowUs);
    this.#pace = pace;
    this.concurrency = concurrency;
  }

  /** From when the type lets another job start; `Infinity` until an event. */
  opensAtUs(): number {
    if (this.paused || !this.#rules.hasSlot(this.running, this.concurrency)) return Infinity;
    return Math.max(this.#rules.startableAtUs({ ...this.state, jobTatUs: 0 }, this.#pace), this.heldUntilUs);
  }

  /** Something is ready after a time when nothing was. */
  becomeBacklogged(nowUs: number): void {
    this.state = this.#rules.becomeBacklogged(this.state, nowUs);
  }

  startJob(cost: number, nowUs: number): void {
    this.state = this.#rules.startJob(this.state, this.#pace, cost, nowUs);
  }
}

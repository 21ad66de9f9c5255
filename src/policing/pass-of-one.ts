import type { ClockUs } from './monotonic-clock.js';
import type { Conforming, Reading } from './policer.js';

/** A bucket that is kept in the process. */
export interface PassableBucket<Taken> {
  reading(nowUs: number): Reading;
  /** Undoes a call that took `taken`. */
  giveBack(taken: Taken, cost: number, nowUs: number): void;
}

/** A call that passed one bucket, and what it took: one object, and no closures, because there is one for every call. */
export class PassOfOne<Taken> implements Conforming {
  readonly verdict = 'conforming';
  readonly readings: readonly Reading[];
  readonly #bucket: PassableBucket<Taken>;
  readonly #taken: Taken;
  readonly #cost: number;
  readonly #now: ClockUs;

  /** @param nowUs The instant of the call, which `now` told. */
  constructor(bucket: PassableBucket<Taken>, taken: Taken, cost: number, nowUs: number, now: ClockUs) {
    this.readings = [bucket.reading(nowUs)];
    this.#bucket = bucket;
    this.#taken = taken;
    this.#cost = cost;
    this.#now = now;
  }

  giveBack(): void {
    this.#bucket.giveBack(this.#taken, this.#cost, this.#now());
  }
}

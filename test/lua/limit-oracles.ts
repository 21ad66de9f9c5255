import type { Limit, RateLimit, WindowLimit } from '../../src/model/limit.js';

/**
 * The algorithms in their plainest form, to compare the scripts with: no packing, no totals, no search. Instants in
 * microseconds, units of windows in whole millionths.
 */
export interface LimitOracle {
  /** Units that would pass now; `us` is the clock, which may step back. */
  remaining(us: number): number;
  /** Brings what stands in the future to now: what a call does, and a peek does not. Forgets nothing. */
  settle(us: number): void;
  charge(us: number, cost: number): void;
  refund(us: number, cost: number, takenAtUs: number, heldUs: number): void;
}

export function oracleOf(limit: Limit): LimitOracle {
  switch (limit.algorithm) {
    case 'token-bucket':
      return new BucketOracle(limit);
    case 'sliding-window-log':
      return new LogOracle(limit);
    case 'sliding-window-counter':
      return new CounterOracle(limit);
  }
}

/** A leaky bucket: how full it was, and when that was so. */
class BucketOracle implements LimitOracle {
  readonly #limit: RateLimit;
  #level = 0;
  #atUs = 0;

  constructor(limit: RateLimit) {
    this.#limit = limit;
  }

  #levelAt(us: number): number {
    const leaked = ((us - this.#atUs) * this.#limit.ratePerSecond) / 1e6;
    return Math.min(this.#limit.burst, Math.max(0, this.#level - leaked));
  }

  remaining(us: number): number {
    return this.#limit.burst - this.#levelAt(us);
  }

  settle(us: number): void {
    if (us < this.#atUs) this.#leak(us);
  }

  charge(us: number, cost: number): void {
    this.#leak(us);
    this.#level += cost;
  }

  #leak(us: number): void {
    this.#level = this.#levelAt(us);
    this.#atUs = us;
  }

  refund(us: number, cost: number, takenAtUs: number, heldUs: number): void {
    const left = ((heldUs - Math.max(0, us - takenAtUs)) * this.#limit.ratePerSecond) / 1e6;
    if (left <= 0 || this.#levelAt(us) === 0) return;
    this.#leak(us);
    this.#level -= Math.min(cost, left, this.#level);
    if (this.#level < 1e-9) this.#atUs = Number.NEGATIVE_INFINITY;
  }
}

const millionths = (units: number): number => Math.round(units * 1e6);

class LogOracle implements LimitOracle {
  readonly #limit: WindowLimit;
  #calls: { atUs: number; units: number }[] = [];

  constructor(limit: WindowLimit) {
    this.#limit = limit;
  }

  #covered(us: number) {
    const since = us - this.#limit.windowMs * 1000;
    return this.#calls.filter(({ atUs }) => atUs > since);
  }

  remaining(us: number): number {
    const used = this.#covered(us).reduce((sum, { units }) => sum + units, 0);
    return Math.max(0, millionths(this.#limit.limit) - used) / 1e6;
  }

  settle(us: number): void {
    for (const call of this.#calls) call.atUs = Math.min(call.atUs, us);
  }

  charge(us: number, cost: number): void {
    this.settle(us);
    this.#calls = this.#covered(us);
    const newestUs = Math.max(...this.#calls.map(({ atUs }) => atUs));
    const instants = new Set(this.#calls.map(({ atUs }) => atUs));
    if (newestUs < us && instants.size >= Math.ceil(this.#limit.limit)) {
      for (const call of this.#calls) if (call.atUs === newestUs) call.atUs = us;
    }
    this.#calls.push({ atUs: us, units: millionths(cost) });
  }

  /** A log knows instants and no calls: whatever a clock that stepped back has brought to this one is given back like it. */
  refund(_: number, cost: number, takenAtUs: number): void {
    let left = millionths(cost);
    for (const call of this.#calls) {
      if (call.atUs !== takenAtUs) continue;
      const given = Math.min(left, call.units);
      call.units -= given;
      left -= given;
    }
    this.#calls = this.#calls.filter(({ units }) => units > 0);
  }
}

class CounterOracle implements LimitOracle {
  readonly #limit: WindowLimit;
  #counts = new Map<number, number>();

  constructor(limit: WindowLimit) {
    this.#limit = limit;
  }

  #windowAt(us: number): number {
    return Math.floor(us / (this.#limit.windowMs * 1000));
  }

  /** The counts, as they stand when the newest of them cannot lie ahead. */
  #countsAt(us: number): ReadonlyMap<number, number> {
    const ahead = Math.max(0, Math.max(...this.#counts.keys()) - this.#windowAt(us));
    return new Map([...this.#counts].map(([window, count]) => [window - ahead, count]));
  }

  remaining(us: number): number {
    const window = this.#windowAt(us);
    const windowUs = this.#limit.windowMs * 1000;
    const counts = this.#countsAt(us);
    const covered = (window + 1) * windowUs - us;
    const before = ((counts.get(window - 1) ?? 0) * covered) / windowUs;
    return Math.max(0, millionths(this.#limit.limit) - before - (counts.get(window) ?? 0)) / 1e6;
  }

  settle(us: number): void {
    this.#counts = new Map(this.#countsAt(us));
  }

  charge(us: number, cost: number): void {
    this.settle(us);
    const window = this.#windowAt(us);
    for (const old of this.#counts.keys()) if (old < window - 1) this.#counts.delete(old);
    this.#counts.set(window, (this.#counts.get(window) ?? 0) + millionths(cost));
  }

  refund(us: number, cost: number, takenAtUs: number): void {
    const window = this.#windowAt(takenAtUs);
    const age = this.#windowAt(us) - window;
    if (age !== 0 && age !== 1) return;
    this.charge(us, 0);
    const count = this.#counts.get(window) ?? 0;
    this.#counts.set(window, Math.max(0, count - millionths(cost)));
  }
}

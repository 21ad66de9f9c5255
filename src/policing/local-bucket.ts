import {
  canEverPass,
  charge,
  conforms,
  EMPTY_TAT_US,
  giveBack,
  type Meter,
  meterOf,
  nextUnitUs,
  remainingOf,
  reRated,
  waitUs,
} from '../model/gcra.js';
import { asRateLimit, type Limit, shareOf } from '../model/limit.js';
import type { PassableBucket } from './pass-of-one.js';
import type { Reading } from './policer.js';
import { RecentEntry } from './recent-map.js';

/** A limit as a process keeps its share of it. All buckets of the limit have the same. */
export interface LocalTerms {
  readonly limit: Limit;
  readonly share: Limit;
  readonly meter: Meter;
}

export function localTermsOf(limit: Limit, share: number): LocalTerms {
  const own = shareOf(limit, share);
  const { ratePerSecond, burst } = asRateLimit(own);
  return { limit, share: own, meter: meterOf(ratePerSecond, burst) };
}

/** A bucket of one number that is kept in the process. */
export class LocalBucket extends RecentEntry<LocalBucket> implements PassableBucket<number> {
  #terms: LocalTerms;
  #tatUs = EMPTY_TAT_US;

  constructor(key: string, terms: LocalTerms) {
    super(key);
    this.#terms = terms;
  }

  get limit(): Limit {
    return this.#terms.limit;
  }

  get meter(): Meter {
    return this.#terms.meter;
  }

  /** Another limit under the same subject: the level stays. */
  follow(terms: LocalTerms, nowUs: number): void {
    this.#tatUs = reRated(this.#tatUs, this.#terms.meter, terms.meter, nowUs);
    this.#terms = terms;
  }

  canEverPass(cost: number): boolean {
    return canEverPass(this.#terms.meter, cost);
  }

  conforms(cost: number, nowUs: number): boolean {
    return conforms(this.#terms.meter, this.#tatUs, cost, nowUs);
  }

  /** Microseconds until a call passes, if nobody else takes anything. */
  waitUs(cost: number, nowUs: number): number {
    return waitUs(this.#terms.meter, this.#tatUs, cost, nowUs);
  }

  /** Takes what a conforming call costs; answers what {@link giveBack} has to be told of it. */
  charge(cost: number, nowUs: number): number {
    this.#tatUs = charge(this.#terms.meter, this.#tatUs, cost, nowUs);
    return this.#tatUs;
  }

  giveBack(chargedTatUs: number, cost: number, nowUs: number): void {
    this.#tatUs = giveBack(this.#terms.meter, this.#tatUs, cost, chargedTatUs, nowUs);
  }

  reading(nowUs: number): Reading {
    const { share, meter } = this.#terms;
    const remaining = remainingOf(meter, this.#tatUs, nowUs);
    return { limit: share, remaining, nextUnitMs: nextUnitUs(meter, remaining) / 1000 };
  }

  /** Whether nothing has been in it for so long. */
  isWholeFor(us: number, nowUs: number): boolean {
    return this.#tatUs + us <= nowUs;
  }
}

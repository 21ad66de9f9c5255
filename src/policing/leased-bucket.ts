import {
  charge,
  conforms,
  covers,
  EMPTY_TAT_US,
  giveBack,
  levelOf,
  type Meter,
  meterOf,
  nextUnitUs,
  reRated,
  waitUs,
  wholeIfNearly,
} from '../model/gcra.js';
import { asRateLimit, type Limit } from '../model/limit.js';
import { Demand } from './demand.js';
import { type Batch, HeldUnits, type Returned } from './held-units.js';
import type { LeaseReply } from './lease-scripts.js';
import type { PassableBucket } from './pass-of-one.js';
import type { Reading } from './policer.js';
import { RecentEntry } from './recent-map.js';

/** Microseconds until a call passes as far as this process knows; `ask` when it takes Redis to tell. */
export type Outlook = number | 'ask';

/** What a call was charged, for undoing it. */
export interface Used {
  readonly batch: Batch | undefined;
  readonly tatUs: number;
}

/** How long units taken in advance may be kept, and what follows from it; all in microseconds. */
export interface LeaseTerms {
  readonly leaseUs: number;
  /** Units are taken for what is expected to be asked for in this time. */
  readonly horizonUs: number;
}

/** A bucket that was just whole is likely to be asked for again. */
const WHOLE_FOR_US = 1e6;
/** Of a bucket that holds plenty a process takes more at once, so that it comes less often: at most so much of what is left. */
const HORIZONS_AHEAD = 5;
const SPARE = 1 / 4;
/** A process that was refused asks again after such a part of the horizon at the earliest, or of the time the bucket fills in. */
const PAUSE = 1 / 4;
const PAUSE_OF_BUCKET = 1 / 8;
/** It asks for more when less than such a part of what it wants to hold is left. */
const LOW = 1 / 4;
/** Where there is enough, nobody looks again for such a part of the horizon: what it holds lasts many times as long. */
const LOOK = 1 / 32;

/**
 * What one process knows of a bucket that many share: the units that it holds in advance, what it was asked for lately,
 * and what Redis last said is left for all.
 *
 * Beside that it meters what it lets through itself by the whole limit. So one process alone keeps the limit exactly, also
 * where units that it held for a while come on top of a bucket that has filled up again.
 */
export class LeasedBucket extends RecentEntry<LeasedBucket> implements PassableBucket<Used> {
  readonly redisKey: string;
  readonly held = new HeldUnits();
  readonly demand: Demand;
  /** When a call last came. */
  askedAtUs: number;
  meter: Meter;
  readonly #terms: LeaseTerms;
  #limit: Limit;
  #tatUs = EMPTY_TAT_US;
  /** What was left for all, and when that was; unknown until Redis was asked. */
  #left: number | undefined;
  #leftAtUs = 0;
  /** Redis would refuse until then, whatever is left. */
  #refusedUntilUs = Number.NEGATIVE_INFINITY;
  #fetchAgainAtUs = Number.NEGATIVE_INFINITY;

  constructor(
    { key, redisKey, limit }: { key: string; redisKey: string; limit: Limit },
    terms: LeaseTerms,
    nowUs: number,
  ) {
    super(key);
    this.redisKey = redisKey;
    this.meter = meterOfLimit(limit);
    this.demand = new Demand(terms.horizonUs, nowUs);
    this.askedAtUs = nowUs;
    this.#limit = limit;
    this.#terms = terms;
  }

  /** Whether Redis has ever said anything of it. */
  get isKnown(): boolean {
    return this.#left !== undefined;
  }

  /** Another limit under the same subject: the level stays. */
  follow(limit: Limit, nowUs: number): void {
    if (limit === this.#limit) return;
    const meter = meterOfLimit(limit);
    this.#tatUs = reRated(this.#tatUs, this.meter, meter, nowUs);
    this.#limit = limit;
    this.meter = meter;
  }

  /** Whether a call passes; 0: at once, by what is held. */
  outlook(cost: number, nowUs: number): Outlook {
    const { meter } = this;
    const meteredUs = conforms(meter, this.#tatUs, cost, nowUs) ? 0 : waitUs(meter, this.#tatUs, cost, nowUs);
    const held = this.held.count(nowUs);
    if (covers(meter, held, cost)) return meteredUs;
    const left = this.#leftAt(nowUs);
    if (left === undefined) return 'ask';
    const shortUs = covers(meter, held + left, cost) ? 0 : (cost - held - left) * meter.emissionUs;
    const wait = Math.max(meteredUs, shortUs, this.#refusedUntilUs - nowUs);
    return wait > 0 ? wait : 'ask';
  }

  /** A call passes: one whose outlook is 0. */
  use(cost: number, nowUs: number): Used {
    this.#tatUs = charge(this.meter, this.#tatUs, cost, nowUs);
    return { batch: this.held.use(cost), tatUs: this.#tatUs };
  }

  giveBack({ batch, tatUs }: Used, cost: number, nowUs: number): void {
    this.#tatUs = giveBack(this.meter, this.#tatUs, cost, tatUs, nowUs);
    if (batch !== undefined) this.held.putBack(batch, cost, nowUs);
  }

  /** As far as this process knows: what others have taken since Redis was last asked is not in it. */
  reading(nowUs: number): Reading {
    const { meter } = this;
    const metered = meter.burst - levelOf(meter, this.#tatUs, nowUs);
    const remaining = wholeIfNearly(meter, Math.max(0, Math.min(metered, this.#inReach(nowUs))));
    return { limit: this.#limit, remaining, nextUnitMs: nextUnitUs(meter, remaining) / 1000 };
  }

  /** Units to hold for what is expected: for the horizon, or for longer where nobody else misses them. */
  target(nowUs: number): number {
    const expected = this.demand.expected(nowUs);
    const spare = (this.#leftAt(nowUs) ?? 0) * SPARE;
    return Math.min(this.meter.burst, Math.max(expected, Math.min(expected * HORIZONS_AHEAD, spare)));
  }

  /** Whether to ask for more before it runs out. */
  wantsMore(cost: number, nowUs: number): boolean {
    if (nowUs < this.#fetchAgainAtUs || nowUs < this.#refusedUntilUs) return false;
    if (this.held.count(nowUs) < this.target(nowUs) * LOW) return (this.#leftAt(nowUs) ?? 0) >= cost;
    this.#fetchAgainAtUs = nowUs + this.#terms.horizonUs * LOOK;
    return false;
  }

  /** Takes in what Redis said when it was asked for at least `least` units at `sentAtUs`. */
  learn(reply: LeaseReply, { least, sentAtUs }: { least: number; sentAtUs: number }, nowUs: number): void {
    const { leaseUs, horizonUs } = this.#terms;
    const { emissionUs, burst } = this.meter;
    const before = this.#inReach(nowUs);
    this.#left = reply.left;
    this.#leftAtUs = nowUs;
    this.#fetchAgainAtUs = nowUs + horizonUs * PAUSE;
    if (reply.kind === 'granted') {
      const { units, tatUs } = reply;
      if (units > 0) this.held.add({ units, tatUs, untilUs: sentAtUs + leaseUs });
    }
    // What leaked while the answer was on its way may be in it or not. As far as that explains why there is less than it
    // seemed, it is not less: callers were told when to come back.
    this.#left += Math.min((nowUs - sentAtUs) / emissionUs, Math.max(0, before - this.#inReach(nowUs)));
    if (reply.kind === 'granted') return;
    const pauseUs = Math.min(horizonUs * PAUSE, burst * emissionUs * PAUSE_OF_BUCKET);
    const isOthersTurn = reply.waitUs > Math.ceil((least - reply.left) * emissionUs) + 1;
    this.#refusedUntilUs = nowUs + (isOthersTurn ? Math.max(pauseUs, reply.waitUs) : pauseUs);
  }

  /** What is to be returned now; from here on it counts as left for all. */
  takeReturns(nowUs: number): readonly Returned[] {
    const left = this.#leftAt(nowUs);
    if (left !== undefined) {
      this.#left = left;
      this.#leftAtUs = nowUs;
    }
    return this.held.takeReturns();
  }

  /** Redis said what is left for all. */
  heard(left: number, nowUs: number): void {
    this.#left = left;
    this.#leftAtUs = nowUs;
  }

  /** Whether it may be forgotten: it holds nothing, and is as good as new. */
  isSpare(nowUs: number): boolean {
    const idleSinceUs = Math.max(this.#tatUs, this.askedAtUs);
    return idleSinceUs + WHOLE_FOR_US <= nowUs && this.held.count(nowUs) <= 0 && !this.held.owes;
  }

  /** Units that a call could have, as far as this process knows. */
  #inReach(nowUs: number): number {
    return this.held.count(nowUs) + (this.#leftAt(nowUs) ?? 0);
  }

  #leftAt(nowUs: number): number | undefined {
    if (this.#left === undefined) return undefined;
    const { emissionUs, burst } = this.meter;
    return Math.min(burst, this.#left + (nowUs - this.#leftAtUs) / emissionUs + this.held.owed);
  }
}

/** All buckets of a limit have the same. */
const meters = new WeakMap<Limit, Meter>();

function meterOfLimit(limit: Limit): Meter {
  let meter = meters.get(limit);
  if (!meter) {
    const { ratePerSecond, burst } = asRateLimit(limit);
    meter = meterOf(ratePerSecond, burst);
    meters.set(limit, meter);
  }
  return meter;
}

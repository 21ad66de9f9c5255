import { type BucketState, EMPTY_BUCKET, levelAt, type Pace } from './bucket.js';
import { RULES, type Rules } from './scheduler/rules.js';
import { corrected } from './scheduler/running-charge.js';
import { CLOCK_START, readClock, type VirtualClock } from './scheduler/virtual-clock.js';
import { wholeUs } from './scheduler/whole-us.js';

/** What a type of several shards may start in all. */
export interface Allotment {
  /** Microseconds per cost unit; 0: unlimited; `Infinity`: nothing starts. */
  readonly emissionUs: number;
  readonly burst: number;
  readonly concurrency: number;
  readonly slackUs: number;
  /** Whether any of these is a limit, so that a start needs a permit. */
  readonly isLimited: boolean;
}

/** A permit that is asked for. */
export interface AskedPermit {
  /** Never used before. */
  readonly id: string;
  /** In which the job stands. */
  readonly shard: number;
  /** Until then it may start the job, by the clock of that shard. Microseconds. */
  readonly untilUs: number;
  readonly cost: number;
}

/** What became of a permit: what its job costs (`undefined`: as it did), and whether its run has ended. */
export interface PermitChange {
  readonly id: string;
  readonly cost: number | undefined;
  readonly ends: boolean;
}

/** What is said of a permit that was asked for; the wait in µs, `null` until an event. */
export type PermitAnswer =
  | { readonly kind: 'none' | 'granted' }
  | { readonly kind: 'wait'; readonly waitUs: number | null }
  | { readonly kind: 'count'; readonly epoch: number };

/** A permit that is held. */
export interface HeldPermit {
  readonly shard: number;
  readonly untilUs: number;
  readonly cost: number;
  /** Where its charge left the level. */
  readonly markUs: number;
}

/**
 * The book of permits of a type that is spread over shards, as its first shard keeps it (lua/lib/permits.lua), without Redis. A
 * permit holds one slot and has paid for one job; nothing starts anywhere without one. So in all shards together no more runs
 * than there are slots, and what starts obeys the envelope of one bucket, by as much later as a permit may be used.
 *
 * It is synchronous and deterministic; every verb is told what time it is, in microseconds of one clock that may step back.
 */
export class PermitBook {
  readonly #rules: Rules;
  readonly #permits = new Map<string, HeldPermit>();
  #clock: VirtualClock = CLOCK_START;
  #bucket: BucketState = EMPTY_BUCKET;
  #pace: Pace = { emissionUs: 0, jobEmissionUs: 0, burst: 1, slackUs: 25_000 };
  #concurrency = Infinity;
  #isPaused = false;
  #isLimited = false;
  /** Whether what began while there was no limit is known. */
  #isCounted = true;
  #epoch = 0;
  /** Somebody was turned away for want of a slot, or until an instant by the rate. */
  #turnedAway = { forSlot: false, byRate: false };
  #hasEarlier = false;

  constructor(rules: Rules = RULES) {
    this.#rules = rules;
  }

  /** Permits that are held, by id. */
  get permits(): ReadonlyMap<string, HeldPermit> {
    return this.#permits;
  }

  /** Everything else that it knows, to be looked at. */
  get state() {
    const { nowUs, offsetUs } = this.#clock;
    return {
      ...{ nowUs, offsetUs, tatUs: this.#bucket.tatUs, concurrency: this.#concurrency, isPaused: this.#isPaused },
      ...{ emissionUs: this.#pace.emissionUs, burst: this.#pace.burst, slackUs: this.#pace.slackUs },
      ...{ isLimited: this.#isLimited, isCounted: this.#isCounted, epoch: this.#epoch, ...this.#turnedAway },
    };
  }

  /**
   * The capacity from now on. A rate that changed keeps its level.
   *
   * @returns the epoch in which somebody has to tell what runs without a permit; `undefined` where that is known.
   */
  allot(rawUs: number, allotment: Allotment): number | undefined {
    this.#advance(rawUs);
    const { burst, slackUs, concurrency, isLimited } = allotment;
    this.#isPaused = allotment.emissionUs === Infinity;
    const emissionUs = this.#isPaused ? this.#pace.emissionUs : allotment.emissionUs;
    const pace: Pace = { emissionUs, jobEmissionUs: 0, burst, slackUs };
    this.#bucket = this.#rules.reRate(this.#bucket, this.#pace, pace, this.#clock.nowUs);
    this.#pace = pace;
    this.#concurrency = concurrency;
    if (isLimited && !this.#isLimited) {
      this.#epoch += 1;
      this.#isCounted = false;
    }
    if (!isLimited) this.#isCounted = true;
    this.#isLimited = isLimited;
    this.#tellOthers();
    return this.#isCounted ? undefined : this.#epoch;
  }

  /** What runs without a permit holds a slot as if it had one, whose id is its token. Nothing is done for an older epoch. */
  adopt(rawUs: number, epoch: number, runs: readonly { readonly shard: number; readonly token: string }[]): void {
    if (epoch !== this.#epoch || this.#isCounted) return;
    this.#advance(rawUs);
    for (const { shard, token } of runs) this.#permits.set(token, { shard, untilUs: 0, cost: 1, markUs: 0 });
    this.#isCounted = true;
    this.#tellOthers();
  }

  /** Takes note of what became of permits, then gives the one that is asked for, if it may. */
  permit(rawUs: number, asked: AskedPermit | undefined, changes: readonly PermitChange[] = []): PermitAnswer {
    this.#advance(rawUs);
    for (const change of changes) this.#change(change);
    const answer: PermitAnswer = asked ? this.#take(asked) : { kind: 'none' };
    this.#tellOthers();
    return answer;
  }

  /** How much of the capacity is used: slots, µs until the rate lets something start, units in the bucket. */
  taken(rawUs: number): { slots: number; waitUs: number; level: number } {
    const { nowUs } = readClock(this.#clock, rawUs);
    return {
      slots: this.#permits.size,
      waitUs: wholeUs(this.#gateAtUs() - nowUs),
      level: levelAt(this.#bucket, this.#pace, nowUs),
    };
  }

  #advance(rawUs: number): void {
    this.#clock = readClock(this.#clock, rawUs);
    this.#hasEarlier = false;
  }

  #take({ id, shard, untilUs, cost }: AskedPermit): PermitAnswer {
    if (this.#permits.has(id)) return { kind: 'granted' };
    if (!this.#isCounted) return { kind: 'count', epoch: this.#epoch };
    if (this.#isPaused) return { kind: 'wait', waitUs: null };
    if (!this.#hasSlot()) {
      this.#turnedAway.forSlot = true;
      return { kind: 'wait', waitUs: null };
    }
    const { nowUs } = this.#clock;
    if (this.#gateAtUs() > nowUs) {
      this.#turnedAway.byRate = true;
      return { kind: 'wait', waitUs: wholeUs(this.#gateAtUs() - nowUs) };
    }
    this.#bucket = this.#rules.startJob(this.#bucket, this.#pace, cost, nowUs);
    this.#permits.set(id, { shard, untilUs, cost, markUs: this.#bucket.tatUs });
    return { kind: 'granted' };
  }

  #change({ id, cost, ends }: PermitChange): void {
    const permit = this.#permits.get(id);
    if (!permit) return;
    if (cost !== undefined && cost !== permit.cost) {
      const { tatUs } = this.#bucket;
      const us = (cost - permit.cost) * this.#pace.emissionUs;
      const { at, mark } = corrected(this.#rules, us, permit.markUs, tatUs, this.#clock.nowUs);
      this.#bucket = { ...this.#bucket, tatUs: at };
      this.#hasEarlier ||= at < tatUs;
      this.#permits.set(id, { ...permit, cost, markUs: mark });
    }
    if (ends) this.#permits.delete(id);
  }

  /** Whoever was turned away hears of it when there is more than they were told. */
  #tellOthers(): void {
    if (this.#hasSlot()) this.#turnedAway.forSlot = false;
    if (this.#hasEarlier) this.#turnedAway.byRate = false;
  }

  #hasSlot(): boolean {
    return this.#rules.hasSlot(this.#permits.size, this.#concurrency);
  }

  #gateAtUs(): number {
    return this.#rules.startableAtUs({ ...this.#bucket, jobTatUs: 0 }, this.#pace);
  }
}

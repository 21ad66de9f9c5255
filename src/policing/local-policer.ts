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
  waitMs,
  waitUs,
} from '../model/gcra.js';
import { asRateLimit, type Limit } from '../model/limit.js';
import { type ClockUs, monotonicUs, neverBack } from './monotonic-clock.js';
import type { AppliedLimit, Check, Policer, PolicerVerdict, Reading } from './policer.js';
import { RecentMap } from './recent-map.js';

export interface LocalPolicerOptions {
  /** Buckets that are remembered at most; the one nobody has asked for longest goes first. */
  readonly maxKeys: number;
  /**
   * The part of every limit that is this process's: rate and burst are multiplied by it, but the burst stays at least 1.
   * Above 0, at most 1; 1 unless given.
   */
  readonly share?: number;
  /** The process' own monotonic clock unless given. */
  readonly clock?: ClockUs;
}

interface Bucket {
  readonly key: string;
  older: Bucket | undefined;
  newer: Bucket | undefined;
  limit: Limit;
  meter: Meter;
  tatUs: number;
}

/** How often memory of what nobody asks for any more is looked through, and how much of it. */
const SWEEP_MS = 1000;
const SWEPT_AT_ONCE = 1000;

/**
 * Limits kept in this process alone: for a single process, or for a fixed share of each limit. N processes with a share of
 * 1 let N times the limit pass.
 *
 * Every limit is a token bucket of one number; a window limit is the bucket that comes nearest (`asRateLimit`). A check
 * takes the same few steps however many keys there are. Memory is bounded by `maxKeys`: a bucket that is whole again is as
 * good as none, so it may go at any time, and does, by and by. Where more keys than that are in use, the bucket nobody has
 * asked for longest is forgotten, that is: made whole.
 */
export class LocalPolicer implements Policer {
  readonly #buckets = new RecentMap<Bucket>();
  readonly #maxKeys: number;
  readonly #share: number;
  readonly #now: ClockUs;
  #sweep: NodeJS.Timeout | undefined;

  constructor({ maxKeys, share = 1, clock = monotonicUs }: LocalPolicerOptions) {
    if (!(share > 0 && share <= 1)) throw new RangeError(`share must be above 0 and at most 1, got ${share}`);
    if (!(maxKeys >= 1)) throw new RangeError(`maxKeys must be at least 1, got ${maxKeys}`);
    this.#maxKeys = maxKeys;
    this.#share = share;
    this.#now = neverBack(clock);
  }

  /** Buckets that are remembered now. */
  get size(): number {
    return this.#buckets.size;
  }

  check({ limits, cost, peek }: Check): PolicerVerdict {
    const nowUs = this.#now();
    const buckets = limits.map((applied) => this.#find(applied, nowUs));
    const refusal = tooDear(buckets, cost) ?? refused(buckets, cost, nowUs);
    if (!peek) for (const bucket of buckets) this.#touch(bucket, refusal === undefined);
    if (refusal) return refusal;
    if (peek) return { verdict: 'conforming', readings: readingsOf(buckets, nowUs), giveBack: nothing };
    const charged = buckets.map((bucket) => {
      bucket.tatUs = charge(bucket.meter, bucket.tatUs, cost, nowUs);
      return bucket.tatUs;
    });
    return {
      verdict: 'conforming',
      readings: readingsOf(buckets, nowUs),
      giveBack: () => this.#giveBack(buckets, charged, cost),
    };
  }

  close(): void {
    clearTimeout(this.#sweep);
    this.#sweep = undefined;
    this.#buckets.clear();
  }

  #giveBack(buckets: readonly Bucket[], charged: readonly number[], cost: number): void {
    const nowUs = this.#now();
    buckets.forEach((bucket, i) => {
      bucket.tatUs = giveBack(bucket.meter, bucket.tatUs, cost, charged[i] ?? EMPTY_TAT_US, nowUs);
    });
  }

  /** The bucket of a limit, not remembered yet when it is new. */
  #find({ limit, subject }: AppliedLimit, nowUs: number): Bucket {
    const bucket = this.#buckets.get(subject);
    if (!bucket) {
      const meter = this.#meterOf(limit);
      return { key: subject, older: undefined, newer: undefined, limit, meter, tatUs: EMPTY_TAT_US };
    }
    if (bucket.limit !== limit) {
      const meter = this.#meterOf(limit);
      bucket.tatUs = reRated(bucket.tatUs, bucket.meter, meter, nowUs);
      bucket.limit = limit;
      bucket.meter = meter;
    }
    return bucket;
  }

  #meterOf(limit: Limit): Meter {
    const { ratePerSecond, burst } = asRateLimit(limit);
    if (this.#share === 1) return meterOf(ratePerSecond, burst);
    return meterOf(ratePerSecond * this.#share, Math.max(Math.min(1, burst), burst * this.#share));
  }

  /** Somebody asked for the bucket; a new one is remembered when it is charged. */
  #touch(bucket: Bucket, charged: boolean): void {
    if (bucket.older || bucket.newer || this.#buckets.oldest === bucket) this.#buckets.touch(bucket);
    else if (charged) this.#remember(bucket);
  }

  #remember(bucket: Bucket): void {
    if (this.#buckets.get(bucket.key)) return;
    this.#buckets.add(bucket);
    this.#forgetWhole(2);
    const { oldest } = this.#buckets;
    if (oldest && this.#buckets.size > this.#maxKeys) this.#buckets.delete(oldest);
    this.#sweep ??= this.#sweepLater();
  }

  /** Looks at the next few buckets, and forgets those that are as good as new. */
  #forgetWhole(count: number): void {
    const nowUs = this.#now();
    for (let i = 0; i < count; i += 1) {
      const bucket = this.#buckets.next();
      if (bucket && bucket.tatUs <= nowUs) this.#buckets.delete(bucket);
    }
  }

  #sweepLater(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#forgetWhole(Math.min(SWEPT_AT_ONCE, this.#buckets.size));
      this.#sweep = this.#buckets.size > 0 ? this.#sweepLater() : undefined;
    }, SWEEP_MS).unref();
  }
}

function nothing(): void {}

/** The limit with the smallest quota, when the cost can never pass it. */
function tooDear(buckets: readonly Bucket[], cost: number): PolicerVerdict | undefined {
  let limitedBy = -1;
  let max = Number.POSITIVE_INFINITY;
  buckets.forEach(({ meter }, i) => {
    if (canEverPass(meter, cost) || meter.burst >= max) return;
    limitedBy = i;
    max = meter.burst;
  });
  return limitedBy < 0 ? undefined : { verdict: 'cost_exceeds_max', limitedBy, max };
}

/** The limit that is the last to let the call through, when one does not let it through now. */
function refused(buckets: readonly Bucket[], cost: number, nowUs: number): PolicerVerdict | undefined {
  let limitedBy = -1;
  let longestUs = 0;
  let retryAfterMs = 0;
  buckets.forEach(({ meter, tatUs }, i) => {
    if (conforms(meter, tatUs, cost, nowUs)) return;
    const wait = waitUs(meter, tatUs, cost, nowUs);
    if (wait <= longestUs) return;
    limitedBy = i;
    longestUs = wait;
    retryAfterMs = waitMs(meter, cost, wait);
  });
  if (limitedBy < 0) return undefined;
  return { verdict: 'limited', readings: readingsOf(buckets, nowUs), limitedBy, retryAfterMs };
}

function readingsOf(buckets: readonly Bucket[], nowUs: number): Reading[] {
  return buckets.map(({ meter, tatUs }) => {
    const remaining = remainingOf(meter, tatUs, nowUs);
    return { remaining, nextUnitMs: nextUnitUs(meter, remaining) / 1000 };
  });
}

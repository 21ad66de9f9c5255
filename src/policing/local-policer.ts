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
import { asRateLimit, type Limit, shareOf } from '../model/limit.js';
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
  /** Whether it is remembered: nothing is stored for a call that takes nothing. */
  known: boolean;
  limit: Limit;
  meter: Meter;
  tatUs: number;
}

/** How often memory of what nobody asks for any more is looked through, and how much of it. */
const SWEEP_MS = 1000;
const SWEPT_AT_ONCE = 1000;
/** One that was only just emptied is likely to be asked for again. */
const WHOLE_FOR_US = 1e6;

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
    const [only, another] = limits;
    if (only && !another && !peek) return this.#checkOne(this.#find(only, nowUs), cost, nowUs);
    const buckets: Bucket[] = [];
    for (const applied of limits) buckets.push(this.#find(applied, nowUs));
    const refusal = tooDear(buckets, cost) ?? refused(buckets, cost, nowUs);
    if (refusal) {
      if (!peek) this.#touchKnown(buckets);
      return refusal;
    }
    if (peek) return { verdict: 'conforming', readings: readingsOf(buckets, nowUs), giveBack: nothing };
    const chargedTatsUs: number[] = [];
    for (const bucket of buckets) {
      bucket.tatUs = charge(bucket.meter, bucket.tatUs, cost, nowUs);
      chargedTatsUs.push(bucket.tatUs);
      if (bucket.known) this.#buckets.touch(bucket);
      else this.#remember(bucket, nowUs);
    }
    return {
      verdict: 'conforming',
      readings: readingsOf(buckets, nowUs),
      giveBack: () => this.#giveBack(buckets, chargedTatsUs, cost),
    };
  }

  /** The same for a single limit, which most policies have: nothing is gathered in lists. */
  #checkOne(bucket: Bucket, cost: number, nowUs: number): PolicerVerdict {
    const { meter } = bucket;
    if (!conforms(meter, bucket.tatUs, cost, nowUs)) {
      const tooDearOnce = tooDear([bucket], cost);
      if (bucket.known) this.#buckets.touch(bucket);
      return tooDearOnce ?? refusal([bucket], 0, waitUs(meter, bucket.tatUs, cost, nowUs), cost, nowUs);
    }
    const chargedTatUs = charge(meter, bucket.tatUs, cost, nowUs);
    bucket.tatUs = chargedTatUs;
    if (bucket.known) this.#buckets.touch(bucket);
    else this.#remember(bucket, nowUs);
    return {
      verdict: 'conforming',
      readings: [readingOf(bucket, nowUs)],
      giveBack: () => {
        bucket.tatUs = giveBack(meter, bucket.tatUs, cost, chargedTatUs, this.#now());
      },
    };
  }

  close(): void {
    clearTimeout(this.#sweep);
    this.#sweep = undefined;
    this.#buckets.clear();
  }

  #giveBack(buckets: readonly Bucket[], chargedTatsUs: readonly number[], cost: number): void {
    const nowUs = this.#now();
    for (const [i, bucket] of buckets.entries()) {
      bucket.tatUs = giveBack(bucket.meter, bucket.tatUs, cost, chargedTatsUs[i] ?? EMPTY_TAT_US, nowUs);
    }
  }

  /** The bucket of a limit, not remembered yet when it is new. */
  #find({ limit, subject }: AppliedLimit, nowUs: number): Bucket {
    const bucket = this.#buckets.get(subject);
    if (!bucket) {
      const meter = this.#meterOf(limit);
      return { key: subject, older: undefined, newer: undefined, known: false, limit, meter, tatUs: EMPTY_TAT_US };
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
    const { ratePerSecond, burst } = asRateLimit(shareOf(limit, this.#share));
    return meterOf(ratePerSecond, burst);
  }

  #touchKnown(buckets: readonly Bucket[]): void {
    for (const bucket of buckets) if (bucket.known) this.#buckets.touch(bucket);
  }

  #remember(bucket: Bucket, nowUs: number): void {
    // A check that names one limit twice.
    if (this.#buckets.get(bucket.key)) return;
    bucket.known = true;
    this.#buckets.add(bucket);
    this.#forgetWhole(2, nowUs);
    const { oldest } = this.#buckets;
    if (oldest && this.#buckets.size > this.#maxKeys) this.#forget(oldest);
    this.#sweep ??= this.#sweepLater();
  }

  #forget(bucket: Bucket): void {
    bucket.known = false;
    this.#buckets.delete(bucket);
  }

  /** Looks at the next few buckets, and forgets those that have been as good as new for a while. */
  #forgetWhole(count: number, nowUs: number): void {
    for (let i = 0; i < count; i += 1) {
      const bucket = this.#buckets.next();
      if (bucket && bucket.tatUs + WHOLE_FOR_US <= nowUs) this.#forget(bucket);
    }
  }

  #sweepLater(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#forgetWhole(Math.min(SWEPT_AT_ONCE, this.#buckets.size), this.#now());
      this.#sweep = this.#buckets.size > 0 ? this.#sweepLater() : undefined;
    }, SWEEP_MS).unref();
  }
}

function nothing(): void {}

/** The limit with the smallest quota, when the cost can never pass it. */
function tooDear(buckets: readonly Bucket[], cost: number): PolicerVerdict | undefined {
  let limitedBy = -1;
  let max = Number.POSITIVE_INFINITY;
  for (let i = 0; i < buckets.length; i += 1) {
    const meter = buckets[i]?.meter;
    if (!meter || canEverPass(meter, cost) || meter.burst >= max) continue;
    limitedBy = i;
    max = meter.burst;
  }
  return limitedBy < 0 ? undefined : { verdict: 'cost_exceeds_max', limitedBy, max };
}

/** The limit that is the last to let the call through, when one does not let it through now. */
function refused(buckets: readonly Bucket[], cost: number, nowUs: number): PolicerVerdict | undefined {
  let limitedBy = -1;
  let longestUs = 0;
  for (let i = 0; i < buckets.length; i += 1) {
    const bucket = buckets[i];
    if (!bucket || conforms(bucket.meter, bucket.tatUs, cost, nowUs)) continue;
    const wait = waitUs(bucket.meter, bucket.tatUs, cost, nowUs);
    if (wait <= longestUs) continue;
    limitedBy = i;
    longestUs = wait;
  }
  return limitedBy < 0 ? undefined : refusal(buckets, limitedBy, longestUs, cost, nowUs);
}

function refusal(
  buckets: readonly Bucket[],
  limitedBy: number,
  forUs: number,
  cost: number,
  nowUs: number,
): PolicerVerdict {
  const meter = buckets[limitedBy]?.meter;
  const retryAfterMs = meter ? waitMs(meter, cost, forUs) : 0;
  return { verdict: 'limited', readings: readingsOf(buckets, nowUs), limitedBy, retryAfterMs };
}

function readingsOf(buckets: readonly Bucket[], nowUs: number): Reading[] {
  return buckets.map((bucket) => readingOf(bucket, nowUs));
}

function readingOf({ meter, tatUs }: Bucket, nowUs: number): Reading {
  const remaining = remainingOf(meter, tatUs, nowUs);
  return { remaining, nextUnitMs: nextUnitUs(meter, remaining) / 1000 };
}

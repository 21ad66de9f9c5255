import { EMPTY_TAT_US, waitMs } from '../model/gcra.js';
import type { Limit } from '../model/limit.js';
import { LocalBucket, type LocalTerms, localTermsOf } from './local-bucket.js';
import { type ClockUs, monotonicUs, neverBack } from './monotonic-clock.js';
import { PassOfOne } from './pass-of-one.js';
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
  readonly #buckets = new RecentMap<LocalBucket>();
  readonly #terms = new WeakMap<Limit, LocalTerms>();
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
    const only = limits.length === 1 && !peek ? limits[0] : undefined;
    if (only) return this.#checkOne(this.#find(only, nowUs), cost, nowUs);
    const buckets: LocalBucket[] = [];
    for (const applied of limits) buckets.push(this.#find(applied, nowUs));
    const refusal = tooDear(buckets, cost) ?? refused(buckets, cost, nowUs);
    if (refusal) {
      if (!peek) this.#touchKnown(buckets);
      return refusal;
    }
    if (peek) return { verdict: 'conforming', readings: readingsOf(buckets, nowUs), giveBack: nothing };
    const chargedTatsUs: number[] = [];
    for (const bucket of buckets) {
      chargedTatsUs.push(bucket.charge(cost, nowUs));
      this.#used(bucket, nowUs);
    }
    return {
      verdict: 'conforming',
      readings: readingsOf(buckets, nowUs),
      giveBack: () => {
        const atUs = this.#now();
        buckets.forEach((bucket, i) => {
          bucket.giveBack(chargedTatsUs[i] ?? EMPTY_TAT_US, cost, atUs);
        });
      },
    };
  }

  /** The same for a single limit, which most policies have: nothing is gathered in lists. */
  #checkOne(bucket: LocalBucket, cost: number, nowUs: number): PolicerVerdict {
    if (!bucket.conforms(cost, nowUs)) {
      if (this.#buckets.holds(bucket)) this.#buckets.touch(bucket);
      const buckets = [bucket];
      return tooDear(buckets, cost) ?? refusal(buckets, 0, bucket.waitUs(cost, nowUs), cost, nowUs);
    }
    const chargedTatUs = bucket.charge(cost, nowUs);
    this.#used(bucket, nowUs);
    return new PassOfOne(bucket, chargedTatUs, cost, nowUs, this.#now);
  }

  close(): void {
    clearTimeout(this.#sweep);
    this.#sweep = undefined;
    this.#buckets.clear();
  }

  /** The bucket of a limit, not remembered yet when it is new. */
  #find(applied: AppliedLimit, nowUs: number): LocalBucket {
    const bucket = this.#buckets.find(applied);
    if (!bucket) return new LocalBucket(applied.subject, this.#termsOf(applied.limit));
    if (bucket.limit !== applied.limit) bucket.follow(this.#termsOf(applied.limit), nowUs);
    return bucket;
  }

  #termsOf(limit: Limit): LocalTerms {
    let terms = this.#terms.get(limit);
    if (!terms) {
      terms = localTermsOf(limit, this.#share);
      this.#terms.set(limit, terms);
    }
    return terms;
  }

  #touchKnown(buckets: readonly LocalBucket[]): void {
    for (const bucket of buckets) if (this.#buckets.holds(bucket)) this.#buckets.touch(bucket);
  }

  /** A bucket was charged: from now on it is remembered. */
  #used(bucket: LocalBucket, nowUs: number): void {
    if (this.#buckets.holds(bucket)) this.#buckets.touch(bucket);
    else this.#remember(bucket, nowUs);
  }

  #remember(bucket: LocalBucket, nowUs: number): void {
    // A check that names one limit twice.
    if (!this.#buckets.add(bucket)) return;
    this.#forgetWhole(2, nowUs);
    const { oldest } = this.#buckets;
    if (oldest && this.#buckets.size > this.#maxKeys) this.#buckets.delete(oldest);
    this.#sweep ??= this.#sweepLater();
  }

  /** Looks at the next few buckets, and forgets those that have been as good as new for a while. */
  #forgetWhole(count: number, nowUs: number): void {
    for (let i = 0; i < count; i += 1) {
      const bucket = this.#buckets.next();
      if (bucket?.isWholeFor(WHOLE_FOR_US, nowUs)) this.#buckets.delete(bucket);
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
function tooDear(buckets: readonly LocalBucket[], cost: number): PolicerVerdict | undefined {
  let limitedBy = -1;
  let max = Number.POSITIVE_INFINITY;
  for (let i = 0; i < buckets.length; i += 1) {
    const bucket = buckets[i];
    if (!bucket || bucket.canEverPass(cost) || bucket.meter.burst >= max) continue;
    limitedBy = i;
    max = bucket.meter.burst;
  }
  return limitedBy < 0 ? undefined : { verdict: 'cost_exceeds_max', limitedBy, max };
}

/** The limit that is the last to let the call through, when one does not let it through now. */
function refused(buckets: readonly LocalBucket[], cost: number, nowUs: number): PolicerVerdict | undefined {
  let limitedBy = -1;
  let longestUs = 0;
  for (let i = 0; i < buckets.length; i += 1) {
    const bucket = buckets[i];
    if (!bucket || bucket.conforms(cost, nowUs)) continue;
    const wait = bucket.waitUs(cost, nowUs);
    if (wait <= longestUs) continue;
    limitedBy = i;
    longestUs = wait;
  }
  return limitedBy < 0 ? undefined : refusal(buckets, limitedBy, longestUs, cost, nowUs);
}

function refusal(
  buckets: readonly LocalBucket[],
  limitedBy: number,
  forUs: number,
  cost: number,
  nowUs: number,
): PolicerVerdict {
  const meter = buckets[limitedBy]?.meter;
  const retryAfterMs = meter ? waitMs(meter, cost, forUs) : 0;
  return { verdict: 'limited', readings: readingsOf(buckets, nowUs), limitedBy, retryAfterMs };
}

function readingsOf(buckets: readonly LocalBucket[], nowUs: number): Reading[] {
  return buckets.map((bucket) => bucket.reading(nowUs));
}

import { randomBytes } from 'node:crypto';
import { waitMs } from '../model/gcra.js';
import { quotaOf } from '../model/limit.js';
import type { RedisLink } from '../redis/connection.js';
import { LeaseDesk } from './lease-desk.js';
import { leaseKey } from './lease-scripts.js';
import { LeasedBucket, type LeaseTerms } from './leased-bucket.js';
import { type ClockUs, monotonicUs, neverBack } from './monotonic-clock.js';
import { PassOfOne } from './pass-of-one.js';
import type { AppliedLimit, Check, Policer, PolicerVerdict } from './policer.js';
import { RecentMap } from './recent-map.js';
import { tooDear } from './too-dear.js';

export interface LeasedPolicerOptions {
  /** How long units taken in advance may be kept. */
  readonly leaseMs: number;
  /** Buckets that are remembered at most; the one nobody has asked for longest goes first, and returns what it holds. */
  readonly maxKeys?: number;
  /**
   * The process' own monotonic clock unless given. With a clock of its own nothing happens by itself: whoever moves it calls
   * {@link LeasedPolicer.tend}.
   */
  readonly clock?: ClockUs;
  /** Microseconds since 2025-01-01, for tests; the server's own clock unless given. */
  readonly redisClock?: ClockUs;
}

/** How a call is decided. */
interface Manner {
  readonly peek: boolean;
  /** Whether to ask Redis for more units before those in hand run out. */
  readonly ahead: boolean;
}

const DEFAULT_MAX_KEYS = 10_000;
/** Units are taken for what an eighth of a lease is expected to need: what is held is used long before it runs out. */
const HORIZONS_PER_LEASE = 8;
/** A call that so many grants in a row did not reach, because others were faster, is refused. */
const MAX_ROUNDS = 8;
const SWEPT_AT_ONCE = 100;

/**
 * Limits that many processes share, each of which decides by itself: it takes units of a bucket in Redis in advance, for
 * what it expects to be asked for in a short while, and lets calls through by them. A check is synchronous where the units
 * in hand, or what Redis last said, decide. Every limit is a token bucket; a window limit is the one that comes nearest.
 *
 * - What is free is shared among the processes that were asked for units lately, by how much they were asked for. A process
 *   alone gets all of the rate and all of the burst.
 * - A process returns what it does not use: at the latest when nobody has asked for a quarter of a lease. It uses nothing
 *   whose lease has run out, and a process that dies takes with it what it held: that was charged, and leaks away.
 * - **Bound.** In every window of t seconds at most `burst + rate · t` units pass beside those that were out on lease when
 *   the window began. These are at most the number of processes times the largest lease, and that is at most the burst. One
 *   process alone never exceeds `burst + rate · t`, because it also meters itself.
 * - Units are created nowhere: a request or a return whose answer is lost may lose units, and is never repeated.
 * - While Redis is away, what is in hand is used until its lease runs out; a check that needs more rejects.
 */
export class LeasedPolicer implements Policer {
  readonly #buckets = new RecentMap<LeasedBucket>();
  readonly #desk: LeaseDesk;
  readonly #terms: LeaseTerms;
  readonly #maxKeys: number;
  readonly #now: ClockUs;
  readonly #tendsItself: boolean;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** The connection stays its opener's to close. */
  constructor(redis: RedisLink, options: LeasedPolicerOptions) {
    const { leaseMs, maxKeys = DEFAULT_MAX_KEYS, clock = monotonicUs, redisClock } = options;
    if (!(leaseMs > 0)) throw new RangeError(`leaseMs must be above 0, got ${leaseMs}`);
    if (!(maxKeys >= 1)) throw new RangeError(`maxKeys must be at least 1, got ${maxKeys}`);
    const leaseUs = leaseMs * 1000;
    this.#terms = { leaseUs, horizonUs: leaseUs / HORIZONS_PER_LEASE };
    this.#maxKeys = maxKeys;
    this.#now = neverBack(clock);
    this.#tendsItself = options.clock === undefined;
    const process = randomBytes(6).toString('base64url');
    this.#desk = new LeaseDesk({ redis, process, terms: this.#terms, now: this.#now, redisNow: redisClock });
  }

  /** Buckets that are remembered now. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Units taken in advance and not used yet: what this process can let pass beside what Redis counts now. */
  get held(): number {
    return this.#desk.held;
  }

  check({ limits, cost, peek }: Check): PolicerVerdict | Promise<PolicerVerdict> {
    if (this.#isClosed) throw new Error('this policer is closed');
    const nowUs = this.#now();
    const only = limits.length === 1 && !peek ? limits[0] : undefined;
    if (only && cost <= quotaOf(only.limit)) return this.#checkOne(only, cost, nowUs);
    const dear = tooDear(limits, cost);
    if (dear) return dear;
    const buckets: LeasedBucket[] = [];
    for (const applied of limits) {
      const bucket = this.#find(applied, nowUs);
      buckets.push(bucket);
      if (!peek) this.#touch(bucket, cost, nowUs);
    }
    return this.#decide(buckets, cost, { peek, ahead: true }) ?? this.#ask(buckets, cost, peek);
  }

  /**
   * What can be said while Redis is away: by what is in hand, or by what it said last; `undefined` when it takes Redis to
   * tell. Nothing is sent.
   */
  checkUnasked({ limits, cost, peek }: Check): PolicerVerdict | undefined {
    if (this.#isClosed) return undefined;
    const dear = tooDear(limits, cost);
    if (dear) return dear;
    const nowUs = this.#now();
    const buckets = limits.map((applied) => this.#find(applied, nowUs));
    for (const bucket of buckets) if (!peek && this.#buckets.holds(bucket)) this.#touch(bucket, cost, nowUs);
    return this.#decide(buckets, cost, { peek, ahead: false });
  }

  /** The same for a single limit, which most policies have: nothing is gathered in lists while what is held decides. */
  #checkOne(applied: AppliedLimit, cost: number, nowUs: number): PolicerVerdict | Promise<PolicerVerdict> {
    const bucket = this.#find(applied, nowUs);
    this.#touch(bucket, cost, nowUs);
    const outlook = bucket.outlook(cost, nowUs);
    if (outlook === 'ask') return this.#ask([bucket], cost, false);
    if (outlook > 0) return limited([bucket], cost, nowUs, 0, outlook);
    const used = bucket.use(cost, nowUs);
    if (bucket.wantsMore(cost, nowUs)) this.#desk.fetchAhead(bucket, cost);
    return new PassOfOne(bucket, used, cost, nowUs, this.#now);
  }

  /**
   * Returns what is not needed, and forgets buckets that are as good as new; by itself every eighth of a lease. Resolves when
   * Redis has answered, or has not.
   */
  async tend(): Promise<void> {
    const nowUs = this.#now();
    for (let i = Math.min(SWEPT_AT_ONCE, this.#buckets.size); i > 0; i -= 1) this.#forgetNextIfSpare(nowUs);
    await this.#desk.tend();
  }

  /** Returns all that is held. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#buckets.clear();
    await this.#desk.close();
  }

  /** What can be said without asking; `undefined` when it takes Redis to tell. Takes what a call that passes costs. */
  #decide(buckets: readonly LeasedBucket[], cost: number, how: Manner): PolicerVerdict | undefined {
    const nowUs = this.#now();
    let longestUs = 0;
    let limitedBy = -1;
    let mustAsk = false;
    for (let i = 0; i < buckets.length; i += 1) {
      const outlook = buckets[i]?.outlook(cost, nowUs) ?? 0;
      if (outlook === 'ask') {
        mustAsk = true;
        // Its wait may be the longest of all.
        if (buckets[i]?.isKnown === false) return undefined;
      } else if (outlook > longestUs) {
        longestUs = outlook;
        limitedBy = i;
      }
    }
    if (limitedBy >= 0) return limited(buckets, cost, nowUs, limitedBy, longestUs);
    return mustAsk ? undefined : this.#pass(buckets, cost, how, nowUs);
  }

  #pass(buckets: readonly LeasedBucket[], cost: number, { peek, ahead }: Manner, nowUs: number): PolicerVerdict {
    if (peek) return { verdict: 'conforming', readings: readingsOf(buckets, nowUs), giveBack: nothing };
    const used = buckets.map((bucket) => bucket.use(cost, nowUs));
    for (const bucket of buckets) if (ahead && bucket.wantsMore(cost, nowUs)) this.#desk.fetchAhead(bucket, cost);
    return {
      verdict: 'conforming',
      readings: readingsOf(buckets, nowUs),
      giveBack: () => {
        const at = this.#now();
        used.forEach((each, i) => {
          buckets[i]?.giveBack(each, cost, at);
        });
      },
    };
  }

  async #ask(buckets: readonly LeasedBucket[], cost: number, peek: boolean): Promise<PolicerVerdict> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const nowUs = this.#now();
      const lacking = buckets.filter((bucket) => bucket.outlook(cost, nowUs) === 'ask');
      await Promise.all(
        lacking.map((bucket) => (peek ? this.#desk.look(bucket, cost) : this.#desk.fetch(bucket, cost))),
      );
      const how = { peek, ahead: true };
      const verdict = this.#decide(buckets, cost, how);
      if (verdict) return verdict;
      if (peek) return this.#pass(buckets, cost, how, this.#now());
    }
    const nowUs = this.#now();
    const limitedBy = Math.max(
      0,
      buckets.findIndex((bucket) => bucket.outlook(cost, nowUs) !== 0),
    );
    return limited(buckets, cost, nowUs, limitedBy, this.#terms.horizonUs / HORIZONS_PER_LEASE);
  }

  /** The bucket of a limit, not remembered yet when it is new. */
  #find(applied: AppliedLimit, nowUs: number): LeasedBucket {
    const { subject: key, limit } = applied;
    const bucket = this.#buckets.find(applied);
    if (!bucket) return new LeasedBucket({ key, redisKey: leaseKey(applied), limit }, this.#terms, nowUs);
    bucket.follow(limit, nowUs);
    return bucket;
  }

  #touch(bucket: LeasedBucket, cost: number, nowUs: number): void {
    bucket.demand.add(cost);
    bucket.askedAtUs = nowUs;
    if (this.#buckets.holds(bucket)) this.#buckets.touch(bucket);
    else this.#remember(bucket, nowUs);
  }

  #remember(bucket: LeasedBucket, nowUs: number): void {
    // A check that names one limit twice.
    if (!this.#buckets.add(bucket)) return;
    this.#forgetNextIfSpare(nowUs);
    this.#forgetNextIfSpare(nowUs);
    const { oldest } = this.#buckets;
    if (oldest && this.#buckets.size > this.#maxKeys) this.#forget(oldest);
    if (this.#tendsItself) this.#timer ??= this.#tendLater();
  }

  #forgetNextIfSpare(nowUs: number): void {
    const bucket = this.#buckets.next();
    if (bucket?.isSpare(nowUs) && !this.#desk.isAsking(bucket)) this.#forget(bucket);
  }

  #forget(bucket: LeasedBucket): void {
    this.#buckets.delete(bucket);
    this.#desk.giveUp(bucket);
  }

  #tendLater(): NodeJS.Timeout {
    return setTimeout(() => {
      void this.tend();
      this.#timer = this.#buckets.size > 0 ? this.#tendLater() : undefined;
    }, this.#terms.horizonUs / 1000).unref();
  }
}

function nothing(): void {}

function limited(
  buckets: readonly LeasedBucket[],
  cost: number,
  nowUs: number,
  limitedBy: number,
  forUs: number,
): PolicerVerdict {
  const meter = buckets[limitedBy]?.meter;
  const retryAfterMs = Math.max(1, meter ? waitMs(meter, cost, forUs) : 1);
  return { verdict: 'limited', readings: readingsOf(buckets, nowUs), limitedBy, retryAfterMs };
}

function readingsOf(buckets: readonly LeasedBucket[], nowUs: number) {
  return buckets.map((bucket) => bucket.reading(nowUs));
}

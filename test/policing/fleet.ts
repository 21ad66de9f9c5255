import type { Redis } from 'ioredis';
import type { Limit } from '../../src/model/limit.js';
import { LeasedPolicer, type LeasedPolicerOptions } from '../../src/policing/leased-policer.js';
import type { AppliedLimit } from '../../src/policing/policer.js';
import type { Passed } from './judges.js';
import { freshly } from './kinds.js';

/** Where the processes' clocks and that of Redis begin; they have nothing in common. */
const BEGIN_US = 60_000_000;
const REDIS_BEGIN_US = 59_000_000_000_000;

/** Calls to one process: evenly spread or, with `random`, at instants of a Poisson process. */
export interface Load {
  readonly perSecond: number;
  readonly fromS?: number;
  readonly toS?: number;
}

/** What became of the calls to one process. */
export interface Served {
  calls: number;
  passed: number;
}

/** Several leased policers, as if each were in a process of its own, over one Redis, under one explicit clock. */
export class Fleet {
  readonly applied: AppliedLimit;
  readonly members: LeasedPolicer[];
  /** All calls that passed, by whom ever. */
  readonly passed: Passed[] = [];
  readonly #tended = new Map<LeasedPolicer, number>();
  readonly #leaseMs: number;
  readonly #options: LeasedPolicerOptions;
  readonly #redis: Redis;
  #passedUs = 0;

  constructor(redis: Redis, size: number, limit: Limit, leaseMs = 1000) {
    this.applied = freshly(limit);
    this.#redis = redis;
    this.#leaseMs = leaseMs;
    this.#options = {
      leaseMs,
      clock: () => BEGIN_US + this.#passedUs,
      redisClock: () => REDIS_BEGIN_US + this.#passedUs,
    };
    this.members = Array.from({ length: size }, () => this.join());
  }

  get nowUs(): number {
    return this.#passedUs;
  }

  /** Another process, which is not among the members. */
  join(options: Partial<LeasedPolicerOptions> = {}): LeasedPolicer {
    return new LeasedPolicer(this.#redis, { ...this.#options, ...options });
  }

  /** Units that the members hold in advance. */
  get held(): number {
    return this.members.reduce((units, { held }) => units + held, 0);
  }

  advance(us: number): void {
    this.#passedUs += us;
  }

  /** Until what was asked of Redis so far, be it ahead of need, is answered and taken in. */
  async settle(): Promise<void> {
    await new Promise(setImmediate);
    await this.#redis.ping();
    await new Promise(setImmediate);
  }

  /** One call to a process. */
  async call(member: LeasedPolicer, cost = 1): Promise<boolean> {
    const { verdict } = await member.check({ limits: [this.applied], cost, peek: false });
    if (verdict === 'conforming') this.passed.push({ atUs: this.#passedUs, cost });
    return verdict === 'conforming';
  }

  /** How many of `n` calls at once pass. */
  async calls(member: LeasedPolicer, n: number): Promise<number> {
    let passed = 0;
    for (let i = 0; i < n; i += 1) if (await this.call(member)) passed += 1;
    return passed;
  }

  /** Lets every process do what it does by itself when its time has come. */
  async tend(members: readonly LeasedPolicer[] = this.members): Promise<void> {
    for (const member of members) {
      if (this.#passedUs - (this.#tended.get(member) ?? 0) < (this.#leaseMs * 1000) / 8) continue;
      this.#tended.set(member, this.#passedUs);
      await member.tend();
    }
  }

  /** `seconds` of load on each of the processes, in its order. `random` spreads the calls: from 0 up to 1. */
  async run(seconds: number, loads: readonly Load[], random: () => number): Promise<Served[]> {
    const served = loads.map(() => ({ calls: 0, passed: 0 }));
    const pause = (at: number) => -Math.log(1 - random()) / (loads[at]?.perSecond ?? 1);
    const next = loads.map((load, i) => (load.fromS ?? 0) + pause(i));
    const beginUs = this.#passedUs;
    for (;;) {
      const at = next.indexOf(Math.min(...next));
      const [atS = Number.POSITIVE_INFINITY, load, member, count] = [next[at], loads[at], this.members[at], served[at]];
      if (atS >= seconds || !load || !member || !count) break;
      next[at] = atS + pause(at);
      if (atS >= (load.toS ?? Number.POSITIVE_INFINITY)) {
        next[at] = Number.POSITIVE_INFINITY;
        continue;
      }
      this.#passedUs = beginUs + Math.round(atS * 1e6);
      await this.tend();
      count.calls += 1;
      if (await this.call(member)) count.passed += 1;
    }
    this.#passedUs = beginUs + seconds * 1e6;
    return served;
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map((member) => member.close()));
  }
}

/** Numbers from 0 up to 1 that are the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

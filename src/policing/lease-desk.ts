import type { RedisLink } from '../redis/connection.js';
import type { Returned } from './held-units.js';
import { type LeaseReply, scripts } from './lease-scripts.js';
import { type LeaseRequest, LeaseTurn } from './lease-turn.js';
import type { LeasedBucket, LeaseTerms } from './leased-bucket.js';
import type { ClockUs } from './monotonic-clock.js';
import { ScriptTurn } from './script-turn.js';

export interface LeaseDeskOptions {
  readonly redis: RedisLink;
  /** 8 bytes that tell this process from others. */
  readonly process: string;
  readonly terms: LeaseTerms;
  readonly now: ClockUs;
  /** The server's own clock unless given. */
  readonly redisNow?: ClockUs | undefined;
}

/** A request for units that is under way: one for each bucket, which all calls that need units share. */
interface Flight {
  readonly arrival: Promise<void>;
  /** What calls wait for, until it is sent. */
  awaited: { units: number; least: number } | undefined;
}

/** Redis is asked for nothing smaller, and by nobody who weighs less. */
const LEAST = 1e-6;
/** A process that was not asked for so large a part of a lease returns what it holds. */
const IDLE = 1 / 4;
/** Units of whose lease only so large a part is left, and that were not used, are too many. */
const KEPT = 1 / 4;

/**
 * Where a process fetches units from Redis and returns them. Each request is sent once: whatever becomes of it, it is not
 * repeated, so what was lost on the way stays charged.
 */
export class LeaseDesk {
  readonly #options: LeaseDeskOptions;
  readonly #requests: LeaseTurn;
  readonly #returns: ScriptTurn<number>;
  readonly #flights = new Map<LeasedBucket, Flight>();
  /** Buckets that may hold something. */
  readonly #holding = new Set<LeasedBucket>();

  constructor(options: LeaseDeskOptions) {
    this.#options = options;
    const { redis, process, terms, redisNow } = options;
    this.#requests = new LeaseTurn({ redis, head: () => [redisNow?.() ?? '', process, terms.leaseUs] });
    this.#returns = new ScriptTurn(redis);
  }

  /** Units in hand, of all buckets. */
  get held(): number {
    const nowUs = this.#options.now();
    return [...this.#holding].reduce((units, bucket) => units + Math.max(0, bucket.held.count(nowUs)), 0);
  }

  isAsking(bucket: LeasedBucket): boolean {
    return this.#flights.has(bucket);
  }

  /** Asks for units for a call, together with all that need some just now. Rejects with Redis' error. */
  fetch(bucket: LeasedBucket, cost: number): Promise<void> {
    const flight = this.#flights.get(bucket) ?? this.#takeOff(bucket);
    if (flight.awaited) {
      flight.awaited.units += cost;
      flight.awaited.least = Math.min(flight.awaited.least, cost);
    }
    return flight.arrival;
  }

  /** Asks for units before they run out; nobody waits for them. */
  fetchAhead(bucket: LeasedBucket, cost: number): void {
    if (!this.#flights.has(bucket)) this.fetch(bucket, cost).catch(() => undefined);
  }

  /** Asks what is left, without taking anything. */
  async look(bucket: LeasedBucket, cost: number): Promise<void> {
    const sentAtUs = this.#options.now();
    const least = cost - bucket.held.count(sentAtUs);
    const reply = await this.#lease(bucket, { want: 0, least, returns: [] });
    // What is to be returned would have come with a request for units.
    if (bucket.held.owes) bucket.heard(reply.left, this.#options.now());
    else bucket.learn(reply, { least, sentAtUs }, this.#options.now());
  }

  /** Returns what a bucket holds that is to be forgotten. */
  giveUp(bucket: LeasedBucket): void {
    if (!this.#holding.delete(bucket)) return;
    bucket.held.count(this.#options.now());
    bucket.held.surrender();
    void this.#return(bucket);
  }

  /** Returns what is held and not used. Never rejects: what does not arrive leaks away by itself. */
  async tend(): Promise<void> {
    const nowUs = this.#options.now();
    const { leaseUs } = this.#options.terms;
    const returning: Promise<void>[] = [];
    for (const bucket of this.#holding) {
      const isIdle = nowUs - bucket.askedAtUs >= leaseUs * IDLE;
      if (isIdle) bucket.held.surrender();
      else bucket.held.surrenderEndingBy(nowUs + leaseUs * KEPT);
      if (bucket.held.owes && !this.#flights.has(bucket)) returning.push(this.#return(bucket));
      if (bucket.held.count(nowUs) <= 0 && !bucket.held.owes) this.#holding.delete(bucket);
    }
    await Promise.all(returning);
  }

  /** Returns everything, also what is still on its way here. Never rejects. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#flights.values()].map(({ arrival }) => arrival));
    const buckets = [...this.#holding];
    this.#holding.clear();
    for (const { held } of buckets) held.surrender();
    await Promise.all(buckets.map((bucket) => this.#return(bucket)));
  }

  #takeOff(bucket: LeasedBucket): Flight {
    const flight: Flight = { arrival: this.#fly(bucket), awaited: { units: 0, least: Number.POSITIVE_INFINITY } };
    this.#flights.set(bucket, flight);
    return flight;
  }

  async #fly(bucket: LeasedBucket): Promise<void> {
    // Calls of the same tick travel along.
    await null;
    try {
      const nowUs = this.#options.now();
      const flight = this.#flights.get(bucket);
      const { units, least } = flight?.awaited ?? { units: 0, least: Number.POSITIVE_INFINITY };
      if (flight) flight.awaited = undefined;
      await this.#fetch(bucket, units, least, nowUs);
    } finally {
      this.#flights.delete(bucket);
    }
  }

  async #fetch(bucket: LeasedBucket, awaited: number, cost: number, sentAtUs: number): Promise<void> {
    const held = bucket.held.count(sentAtUs);
    const wanted = Math.min(bucket.meter.burst, Math.max(awaited, bucket.target(sentAtUs))) - held;
    // Asked for ahead of need, a part of what a call takes would be of no use either.
    const least = Math.max(held < cost ? cost - held : Math.min(wanted, cost), LEAST);
    const reply = await this.#lease(bucket, {
      want: Math.max(wanted, least),
      least,
      returns: bucket.takeReturns(sentAtUs),
    });
    if (reply.kind === 'granted') this.#holding.add(bucket);
    bucket.learn(reply, { least, sentAtUs }, this.#options.now());
  }

  #lease(bucket: LeasedBucket, asked: Omit<LeaseRequest, 'bucket' | 'weight'>): Promise<LeaseReply> {
    const weight = Math.max(LEAST, bucket.demand.perSecond(this.#options.now()));
    return this.#requests.ask({ bucket, weight, ...asked });
  }

  async #return(bucket: LeasedBucket): Promise<void> {
    const { process, terms, now, redisNow } = this.#options;
    const { emissionUs, burst } = bucket.meter;
    const stays = bucket.held.count(now()) > 0 ? 1 : 0;
    const returns = bucket.takeReturns(now());
    if (returns.length === 0) return;
    const argv = [redisNow?.() ?? '', process, stays, emissionUs, burst, terms.leaseUs, ...flat(returns)];
    try {
      bucket.heard(await this.#returns.run({ script: scripts.returnLease, keys: [bucket.redisKey], argv }), now());
    } catch {
      // What did not arrive was charged, and leaks away.
    }
  }
}

function flat(returns: readonly Returned[]): number[] {
  return returns.flatMap(({ units, tatUs }) => [units, tatUs]);
}

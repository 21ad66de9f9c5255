import { randomUUID } from 'node:crypto';
import { setImmediate as whenIdle } from 'node:timers/promises';
import type { PermitAnswer } from '../model/permit-book.js';
import { hasLimit } from '../model/profile.js';
import { answersOf } from '../redis/answers-of.js';
import type { RedisLink } from '../redis/connection.js';
import { permitsKey, type ShardTag } from '../redis/keys.js';
import { isPassing } from '../redis/outage.js';
import { type Argument, runScript } from '../redis/script.js';
import { capacityArguments } from './capacity-arguments.js';
import { type Holders, permitScripts } from './permit-scripts.js';
import type { Dispatched, LackingPermit } from './scripts.js';
import type { TypeSettings } from './settings.js';

/** How long a permit may start its job, by the clock of the job's shard, in µs: so much later than it was paid for may a start be. */
const VALID_US = 250_000;
/** What was heard of a shard's clock is told on for so long, in milliseconds. */
const CLOCK_FRESH_MS = 10_000;
/** Asked so often in one fetch: what is ready changes under way. Whoever asks again begins anew. */
const MOST_TRIES = 4;
/** Changes of permits in one call, and those that wait for a call; beyond, they are left to {@link PermitDesk.reconcile}. */
const CHANGES_PER_CALL = 300;
const MOST_CHANGES = 10_000;
const PAGE = 500;

/** A fetch that was turned away by the capacity of the type; the wait in µs, `null` until an event. */
export interface TurnedAway {
  readonly kind: 'turned away';
  readonly waitUs: number | null;
}

/** A shard, as far as a desk has to do with it. */
export interface PermitShard {
  holders(permits: readonly string[]): Promise<Holders>;
}

/** What limits a type, as it is at this moment. */
export type PermitSettings = Pick<TypeSettings, 'capacity' | 'slackUs'>;

interface Permit {
  readonly id: string;
  readonly cost: number;
  readonly untilUs: number;
}

type Change = readonly [id: string, cost: number | '', ends: 'end' | 'keep'];

/** What a shard said last: the cost of a job that was ready, and its clock (µs) at a local instant (ms). */
interface Heard {
  cost: number;
  readonly atUs: number;
  readonly heardAt: number;
}

/**
 * Where a process gets permits to start jobs of one type that is spread over shards, and where it gives them up. The type's first
 * shard keeps them (lua/lib/permits.lua): no more are given than its rate and its slots allow, so whatever becomes of a process, no
 * more starts. A permit is given up by whoever ended the run; one that was left behind, by a reply that was lost or a process that died,
 * by the next {@link reconcile} of any process. An id is never used twice, so a change that arrives late or twice does no harm.
 */
export class PermitDesk {
  readonly #redis: RedisLink;
  readonly #home: ShardTag;
  readonly #settings: PermitSettings;
  readonly #shards: readonly PermitShard[];
  readonly #heard = new Map<number, Heard>();
  #changes: Change[] = [];
  #flushing: Promise<void> | undefined;

  /** @param home The type's first shard; `shards` are all of them, in their order. */
  constructor(redis: RedisLink, home: ShardTag, settings: PermitSettings, shards: readonly PermitShard[]) {
    this.#redis = redis;
    this.#home = home;
    this.#settings = settings;
    this.#shards = shards;
  }

  /** Whether the type has a capacity now, so that a start needs a permit. */
  get isNeeded(): boolean {
    return hasLimit(this.#settings.capacity);
  }

  /** Tells Redis the capacity of the type. Every shard has been configured. */
  async allot(): Promise<void> {
    const { capacity, slackUs } = this.#settings;
    const argv = ['', ...capacityArguments(capacity, slackUs), hasLimit(capacity) ? '1' : ''];
    const left = await runScript(this.#redis, { script: permitScripts.allot, tag: this.#home, argv });
    if (left !== null) await this.#count(left.uncountedEpoch);
  }

  /**
   * Fetches from a shard: `send` sends a dispatch with a permit, or with '' where none is known to be needed. A
   * permit of which nobody knows whether a run has it, after an error or `undefined`, is left to {@link reconcile}.
   *
   * Where something is known to be ready, the permit is taken first, for what is known of the shard; after a wrong guess not
   * again before the shard has said what it lacks: others may be quicker there.
   *
   * @param isReady Whether something is known to be ready there.
   */
  async fetch(
    shard: number,
    isReady: boolean,
    send: (permit: string) => Promise<Dispatched | undefined>,
  ): Promise<Dispatched | TurnedAway | undefined> {
    let lacks = this.isNeeded && isReady ? this.#guess(shard) : undefined;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const permit = lacks && (await this.#take(shard, lacks));
      if (permit && 'kind' in permit) return permit;
      const found = await send(permit ? `${permit.id} ${permit.cost} ${permit.untilUs}` : '');
      if (found === undefined) return undefined;
      if (found.kind === 'job') {
        if (permit) this.#began(shard, permit, found);
        return found;
      }
      if (permit) this.#change([permit.id, 0, 'end']);
      lacks = found.lacks;
      if (lacks === undefined) {
        if (permit) this.#heard.delete(shard);
        return found;
      }
      this.#heard.set(shard, { ...lacks, heardAt: performance.now() });
    }
    return { kind: 'turned away', waitUs: 0 };
  }

  /**
   * The run under a token has ended. One that began when the type had no capacity has no permit of its own, but may have been given
   * one under its token since.
   */
  ended(token: string, permit: string | undefined, wasUndone: boolean): void {
    const own = permit ?? (this.isNeeded ? token : undefined);
    if (own !== undefined) this.#change([own, wasUndone ? 0 : '', 'end']);
  }

  /** The job of a permit costs so much. */
  async charge(permit: string, cost: number): Promise<void> {
    this.#change([permit, cost, 'keep']);
    await this.flush();
  }

  /** Tells what changed, unless that was told along with a permit that was asked for. What cannot be told now is told later. */
  async flush(): Promise<void> {
    await this.#flushing;
    try {
      await this.#tellAll();
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
  }

  /** The same, and nobody waits: a permit that is asked for at once takes along what changed. */
  flushSoon(): void {
    if (this.#changes.length > 0) this.#flushing ??= this.#flushWhenIdle();
  }

  /** Gives up what no run holds and nothing can be started with any more, as far as Redis can be asked now. */
  async reconcile(): Promise<void> {
    try {
      let cursor = '0';
      do {
        const [next, flat] = await this.#redis.hscan(permitsKey(this.#home), cursor, 'COUNT', PAGE);
        cursor = next;
        const byShard = [...permitsByShard(flat)];
        // What is held in a shard that is away is held until it is back.
        await answersOf(byShard.map(([shard, permits]) => this.#giveUpIdle(shard, permits)));
      } while (cursor !== '0');
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
    await this.flush();
  }

  async #flushWhenIdle(): Promise<void> {
    await whenIdle();
    try {
      await this.#tellAll();
    } catch {
      // What could not be told goes with the next permit, and what is wrong is heard there.
    } finally {
      this.#flushing = undefined;
    }
  }

  async #tellAll(): Promise<void> {
    while (this.#changes.length > 0) await this.#send(['', '', '', '']);
  }

  async #giveUpIdle(shard: number, untilUs: ReadonlyMap<string, number>): Promise<void> {
    const holders = await this.#shards[shard]?.holders([...untilUs.keys()]);
    if (holders === undefined) return;
    for (const id of holders.idleIds) {
      if ((untilUs.get(id) ?? Infinity) < holders.atUs) this.#change([id, '', 'end']);
    }
  }

  async #take(shard: number, { cost, atUs }: LackingPermit): Promise<Permit | TurnedAway> {
    const permit: Permit = { id: randomUUID(), cost, untilUs: atUs + VALID_US };
    for (let counts = 0; counts < 2; counts += 1) {
      const answer = await this.#ask(shard, permit);
      if (answer.kind === 'granted') return permit;
      if (answer.kind !== 'count') return { kind: 'turned away', waitUs: answer.kind === 'wait' ? answer.waitUs : 0 };
      await this.#count(answer.epoch);
    }
    return { kind: 'turned away', waitUs: 0 };
  }

  async #ask(shard: number, { id, untilUs, cost }: Permit): Promise<PermitAnswer> {
    try {
      return await this.#send([id, shard, untilUs, cost]);
    } catch (error) {
      // It may have been given all the same, and nothing was sent with it.
      this.#change([id, 0, 'end']);
      throw error;
    }
  }

  /** Sends what changed along with it. */
  async #send(asked: readonly Argument[]): Promise<PermitAnswer> {
    const changes = this.#changes.splice(0, CHANGES_PER_CALL);
    try {
      const argv = ['', ...asked, ...changes.flat()];
      return await runScript(this.#redis, { script: permitScripts.permit, tag: this.#home, argv });
    } catch (error) {
      this.#changes = [...changes, ...this.#changes].slice(0, MOST_CHANGES);
      throw error;
    }
  }

  /** Every shard starts nothing without a permit by now: what runs without one is what began before. */
  async #count(epoch: number): Promise<void> {
    const all = await Promise.all(this.#shards.map((shard) => shard.holders([])));
    const runs = all.flatMap(({ tokensWithout }, shard) => tokensWithout.flatMap((token) => [shard, token]));
    await runScript(this.#redis, { script: permitScripts.adopt, tag: this.#home, argv: ['', epoch, ...runs] });
  }

  /** What the next job of a shard costs is taken to be what the last one did; a wrong guess costs two commands. */
  #guess(shard: number): LackingPermit | undefined {
    const heard = this.#heard.get(shard);
    const agoMs = heard === undefined ? Infinity : performance.now() - heard.heardAt;
    if (heard === undefined || agoMs > CLOCK_FRESH_MS) return undefined;
    return { cost: heard.cost, atUs: Math.floor(heard.atUs + agoMs * 1000) };
  }

  #began(shard: number, permit: Permit, { fields, turn }: Dispatched & { readonly kind: 'job' }): void {
    const cost = Number(fields.get('hg:c') ?? 1);
    const heard = this.#heard.get(shard);
    if (heard) heard.cost = cost;
    // A repeated dispatch: the job had begun with another permit.
    if (turn === null) this.#change([permit.id, 0, 'end']);
    else if (cost < permit.cost) this.#change([permit.id, cost, 'keep']);
  }

  #change(change: Change): void {
    if (this.#changes.length < MOST_CHANGES) this.#changes.push(change);
  }
}

/** The instants of permits by id, by shard. */
function permitsByShard(flat: readonly string[]): Map<number, Map<string, number>> {
  const byShard = new Map<number, Map<string, number>>();
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const [shard = '', untilUs = ''] = flat[i + 1]?.split(' ') ?? [];
    const permits = byShard.get(Number(shard)) ?? new Map<string, number>();
    byShard.set(Number(shard), permits.set(flat[i] ?? '', Number(untilUs)));
  }
  return byShard;
}

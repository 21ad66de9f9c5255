import { ShardTurns } from '../model/shard-turns.js';
import { answersOf } from '../redis/answers-of.js';
import { decodeTenant } from '../redis/keys.js';
import { shardOf } from '../redis/shards.js';
import type { Subscriber } from '../redis/subscriber.js';
import { AwayShards } from './away-shards.js';
import { FetchesInDoubt } from './fetches-in-doubt.js';
import { inCommon } from './in-common.js';
import { listenToShards } from './listen-to-shards.js';
import type { PermitDesk, TurnedAway } from './permit-desk.js';
import type { Dispatched, Emitted } from './scripts.js';
import { ShardFetches } from './shard-fetches.js';
import { standingOf } from './standing-of.js';
import { tokensByShard } from './tokens-by-shard.js';
import type { UnseenEnd } from './unseen-end.js';
import { ELSEWHERE, type Held, type Outcome, type Settled, type WorkSource } from './work-source.js';

/**
 * Where a pool gets the jobs of one type from and where it brings them back, over all shards of the type, which it serves
 * as one queue: {@link ShardTurns} says which is next. Every method may be repeated with the same arguments after an
 * error: the second call answers what the first one did.
 *
 * A type of one shard costs nothing beside that shard's own scripts.
 */
export class TypeSource {
  readonly type: string;
  readonly #shards: readonly WorkSource[];
  readonly #first: WorkSource;
  readonly #turns: ShardTurns;
  readonly #permits: PermitDesk;
  readonly #inDoubt = new FetchesInDoubt();
  readonly #areApart: boolean;
  readonly #away: AwayShards;
  readonly #fetches: ShardFetches;
  /** Asks all shards where they stand; whoever wants to know meanwhile waits for the same answer. */
  readonly #look = inCommon(() => this.#lookAtAll());

  /**
   * @param shards All of them, in their order.
   * @param permits Where starts of a type that is spread are allowed.
   * @param areApart They are on several masters: where one is away the others are served meanwhile, and a fetch from it of which
   *   nobody knows what it came to is given up; its job comes back by its lock.
   */
  constructor(shards: readonly WorkSource[], permits: PermitDesk, areApart = false) {
    const [first] = shards;
    if (first === undefined) throw new RangeError('a type has one shard at least');
    this.type = first.type;
    this.#shards = shards;
    this.#first = first;
    this.#permits = permits;
    this.#turns = new ShardTurns(shards.length);
    this.#areApart = areApart;
    this.#away = new AwayShards(
      (shard) => this.#source(shard).turn(this.#turns.virtualTime),
      (shard) => this.#turns.woken(shard),
    );
    const parts = { turns: this.#turns, away: this.#away, inDoubt: this.#inDoubt };
    this.#fetches = new ShardFetches({ shards, areApart, ...parts });
  }

  /** Whether the type has several shards. */
  get isSpread(): boolean {
    return this.#shards.length > 1;
  }

  /** Whether another fetch may find something now, beside those that are under way. Of one shard nobody knows. */
  get mayHaveMore(): boolean {
    return this.isSpread && this.#turns.mayHaveMore(performance.now());
  }

  /** How long a lock lasts, in milliseconds. */
  get lockMs(): number {
    return this.#first.lockMs;
  }

  /** See {@link listenToShards}. */
  listen(subscriber: Subscriber, onMessage: (message: string) => void): () => void {
    const leaveAway = this.#away.onBack(() => onMessage('wake'));
    const leaveShards = listenToShards(subscriber, this.#shards, (message, shard) => {
      if (message === 'wake') this.#turns.woken(shard);
      onMessage(message);
    });
    return () => {
      leaveAway();
      leaveShards();
    };
  }

  /** See {@link WorkSource.configure}. The first shard decides whether the data is such as one can go on with. */
  async configure(): Promise<void> {
    await this.#first.configure();
    await Promise.all(this.#shards.slice(1).map((shard) => shard.configure()));
    if (this.isSpread) await this.#permits.allot();
    this.#turns.woken();
  }

  /** A token for one dispatch: unique, and it says whose it is. */
  newToken(): string {
    return this.#first.newToken();
  }

  /** Takes the fairest ready job of any tenant, under a token that is new to every dispatch. */
  async dispatch(token: string): Promise<Dispatched> {
    if (!this.isSpread) return this.#first.dispatch(token);
    const doubted = this.#inDoubt.shardOf(token);
    const begun = doubted === undefined ? undefined : await this.#fetches.take(doubted, token);
    if (begun?.kind === 'job') return begun;
    const found = await this.#takeNext(token);
    // A job does not wait until others have heard what became of their permits.
    if (found.kind === 'job') this.#permits.flushSoon();
    else await this.#permits.flush();
    return found;
  }

  /**
   * Ends the run of a job and, when `nextToken` is given, takes the next one: in the same script where it is the turn of the
   * job's own shard, else of the shard whose turn it is.
   */
  async settle(held: Held, outcome: Outcome, nextToken?: string): Promise<Settled> {
    if (!this.isSpread) return this.#first.settle(held, outcome, nextToken);
    const own = this.#shardOf(held);
    const holdMs = outcome.kind === 'busy' && outcome.scope === 'type' ? outcome.holdMs : undefined;
    const staysHere = nextToken !== undefined && holdMs === undefined && !this.#permits.isNeeded;
    if (staysHere && this.#isTurnOf(own, nextToken)) return this.#settleAndTake(own, held, outcome, nextToken);
    const ended = this.#source(own).settle(held, outcome, nextToken && ELSEWHERE, this.#turns.virtualTime);
    const look = nextToken !== undefined && this.#turns.needsLook(performance.now()) ? this.#look() : undefined;
    const [settled] = await Promise.all([ended, look]);
    this.#permits.ended(held.token, settled.permit, outcome.kind === 'busy');
    if (holdMs !== undefined) await Promise.all(this.#shards.map((shard) => shard.hold(holdMs)));
    if (nextToken !== undefined) return { ...settled, next: await this.dispatch(nextToken) };
    await this.#permits.flush();
    return settled;
  }

  /** Whether a job is held under this token, in any shard; a dispatch under it then answers that job. */
  async holds(token: string): Promise<boolean> {
    const all = await this.#all(this.#shards.map((shard) => shard.renew([token])));
    const holder = all.findIndex((answer) => answer?.lostTokens.length === 0);
    if (holder >= 0) this.#inDoubt.add(token, holder);
    return holder >= 0;
  }

  /** Keeps the locks of what runs; tells which runs are lost and which jobs are asked to stop. */
  async renew(runs: readonly Held[]): Promise<{ lostTokens: string[]; cancelRequestedIds: string[] }> {
    const tokens = tokensByShard(runs, (held) => this.#shardOf(held));
    const all = await this.#there([...tokens].map(([shard, own]) => this.#source(shard).renew(own)));
    return {
      lostTokens: all.flatMap(({ lostTokens }) => lostTokens),
      cancelRequestedIds: all.flatMap(({ cancelRequestedIds }) => cancelRequestedIds),
    };
  }

  /** Stores how far a job is, JSON. False when it is no longer this worker's. */
  progress(held: Held, json: string): Promise<boolean> {
    return this.#home(held).progress(held.token, json);
  }

  /** See {@link WorkSource.emit}. */
  emit(held: Held, first: number, chunks: readonly string[]): Promise<Emitted> {
    return this.#home(held).emit(held.token, first, chunks);
  }

  /** The job costs this many units, 0.001 to 10,000. False when it is no longer this worker's. */
  async charge(held: Held, cost: number): Promise<boolean> {
    const { isHeld, permit } = await this.#home(held).charge(held.token, cost);
    if (permit !== '') await this.#permits.charge(permit, cost);
    return isHeld;
  }

  /** See {@link WorkSource.runsOf}. */
  runsOf(held: Held): ReturnType<WorkSource['runsOf']> {
    return this.#home(held).runsOf(held);
  }

  /** Takes back what dead workers were running. Ids of jobs that wait again and of jobs that ended. */
  async recover(maxStalled: number): Promise<{ returnedIds: string[]; endedIds: string[] }> {
    const all = await this.#there(this.#shards.map((shard) => shard.recover(maxStalled, this.#floor)));
    if (this.isSpread) await this.#permits.reconcile();
    return {
      returnedIds: all.flatMap(({ returnedIds }) => returnedIds),
      endedIds: all.flatMap(({ endedIds }) => endedIds),
    };
  }

  /** Removes results whose time is over. `onUnseen` is told of ends that no worker and no caller saw, each once. */
  async sweep(onUnseen: (ends: readonly UnseenEnd[]) => void): Promise<void> {
    const sweepShard = async (shard: WorkSource) => {
      const swept = await shard.sweep(this.#floor);
      if (swept.unseen.length > 0) onUnseen(swept.unseen); // Nobody else has them, whatever becomes of the other shards.
      return swept;
    };
    for (let more = true; more; ) {
      const all = await this.#there(this.#shards.map(sweepShard));
      const finishes = all.flatMap(({ idleAt }) => (idleAt === null ? [] : [idleAt]));
      if (this.isSpread && finishes.length === this.#shards.length) await this.#rest(Math.max(...finishes));
      more = all.some((swept) => swept.more);
    }
  }

  get #floor(): number | '' {
    return this.isSpread ? this.#turns.virtualTime : '';
  }

  /** All shards are at rest: all are told at once, so that they go on by one scale. */
  async #rest(maxFinish: number): Promise<void> {
    if (maxFinish <= this.#turns.virtualTime) return;
    this.#turns.idle(maxFinish);
    await this.#look();
  }

  #isTurnOf(own: number, nextToken: string): boolean {
    const doubted = this.#inDoubt.shardOf(nextToken);
    if (doubted !== undefined) return doubted === own;
    const now = performance.now();
    return !this.#turns.needsLook(now) && this.#turns.next(now, own) === own;
  }

  async #takeNext(token: string): Promise<Dispatched> {
    for (;;) {
      if (this.#turns.needsLook(performance.now())) await this.#look();
      const shard = this.#turns.next(performance.now());
      if (shard === undefined) return { kind: 'nothing', waitUs: this.#turns.waitMs(performance.now()) * 1000 };
      const found = await this.#takeFrom(shard, token);
      if (found?.kind === 'job') return found;
      if (found?.kind === 'turned away') return { kind: 'nothing', waitUs: found.waitUs };
    }
  }

  async #takeFrom(shard: number, token: string): Promise<Dispatched | TurnedAway | undefined> {
    const isReady = this.#turns.isReady(shard, performance.now());
    let leave = this.#turns.choose(shard);
    const send = async (permit: string) => {
      leave();
      try {
        return await this.#fetches.take(shard, token, permit);
      } finally {
        leave = this.#turns.choose(shard);
      }
    };
    try {
      return await this.#permits.fetch(shard, isReady, send);
    } finally {
      leave();
    }
  }

  async #settleAndTake(own: number, held: Held, outcome: Outcome, token: string): Promise<Settled> {
    const settled = await this.#fetches.ask(
      own,
      token,
      (source, floor) => source.settle(held, outcome, token, floor),
      ({ next }) => next,
    );
    this.#permits.ended(held.token, settled.permit, outcome.kind === 'busy');
    return settled.next.kind === 'job' ? settled : { ...settled, next: await this.dispatch(token) };
  }

  async #lookAtAll(): Promise<void> {
    const looked = this.#turns.look();
    const asked = this.#shards.map((source, shard) => (this.#away.has(shard) ? undefined : source));
    const turns = await this.#all(asked.map(async (source) => source?.turn(this.#turns.virtualTime)));
    looked(turns.map(standingOf), performance.now());
  }

  /** All answers; where shards are apart, `undefined` in place of those that are away while others are there. */
  #all<Reply>(asked: readonly Promise<Reply>[]): Promise<(Reply | undefined)[]> {
    return this.#areApart ? answersOf(asked) : Promise.all(asked);
  }

  async #there<Reply>(asked: readonly Promise<Reply>[]): Promise<Reply[]> {
    return (await this.#all(asked)).filter((answer) => answer !== undefined);
  }

  #home(held: Held): WorkSource {
    return this.#source(this.#shardOf(held));
  }

  #shardOf({ tenant }: Held): number {
    return this.isSpread ? shardOf(decodeTenant(tenant), this.#shards.length) : 0;
  }

  #source(shard: number): WorkSource {
    const source = this.#shards[shard];
    if (source === undefined) throw new RangeError(`type "${this.type}" has no shard ${shard}`);
    return source;
  }
}

import type { ShardTurns } from '../model/shard-turns.js';
import { isPassing } from '../redis/outage.js';
import type { AwayShards } from './away-shards.js';
import type { FetchesInDoubt } from './fetches-in-doubt.js';
import { learnTurn } from './learn-turn.js';
import type { Dispatched } from './scripts.js';
import type { WorkSource } from './work-source.js';

/** What a fetch has to do with. */
export interface ShardFetchesParts {
  readonly shards: readonly WorkSource[];
  readonly turns: ShardTurns;
  readonly away: AwayShards;
  readonly inDoubt: FetchesInDoubt;
  /** They are on several masters. */
  readonly areApart: boolean;
}

/** Fetches from one shard of a type: what each came to is told to the turns, and which are in doubt is remembered. */
export class ShardFetches {
  readonly #parts: ShardFetchesParts;

  constructor(parts: ShardFetchesParts) {
    this.#parts = parts;
  }

  /** Fetches from a shard. Of one that is away while others are there nobody knows what it came to. */
  async take(shard: number, token: string, permit = ''): Promise<Dispatched | undefined> {
    const { away, turns, shards, areApart } = this.#parts;
    if (!away.has(shard)) {
      try {
        const send = (source: WorkSource, floor: number) => source.dispatch(token, floor, permit);
        return await this.ask(shard, token, send, (found) => found);
      } catch (error) {
        if (!areApart || !isPassing(error)) throw error;
        away.add(shard);
        if (away.size === shards.length) away.clear();
        if (away.size === 0) throw error;
      }
    }
    turns.nothing(turns.ask(shard), null, performance.now());
    return undefined;
  }

  /** Sends a fetch to a shard. While it is not known what it came to, a repetition goes to the same shard first. */
  async ask<Reply>(
    shard: number,
    token: string,
    send: (source: WorkSource, floor: number) => Promise<Reply>,
    foundIn: (reply: Reply) => Dispatched,
  ): Promise<Reply> {
    const { turns, inDoubt, shards } = this.#parts;
    const source = shards[shard];
    if (source === undefined) throw new RangeError(`there is no shard ${shard}`);
    const asked = turns.ask(shard);
    inDoubt.add(token, shard);
    try {
      const reply = await send(source, turns.virtualTime);
      inDoubt.delete(token);
      learnTurn(turns, asked, foundIn(reply));
      return reply;
    } catch (error) {
      turns.failed(asked);
      throw error;
    }
  }
}

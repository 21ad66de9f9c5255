import { orUnavailable, type RedisLink } from '../redis/connection.js';
import type { ShardTag } from '../redis/keys.js';
import { runScript } from '../redis/script.js';
import type { Shards } from '../redis/shards.js';
import { scripts } from './scripts.js';

/** For how long what was seen is as good as a new look, in milliseconds: so long a lack of workers must last to count. */
const FRESH_MS = 50;

/**
 * Knows whether workers of a type are scarce in any of its shards, which a shard alone cannot tell: a slot is free for it
 * only if nothing waits for one elsewhere. The shards are asked when somebody wants to know and it is too long ago; with one shard
 * never. The connection is the caller's to close.
 */
export class ShardWatch {
  readonly #redis: RedisLink;
  readonly #shards: Shards;
  readonly #seen = new Map<string, { readonly untilMs: number; readonly scarce: Promise<ReadonlySet<ShardTag>> }>();

  constructor(redis: RedisLink, shards: Shards) {
    this.#redis = redis;
    this.#shards = shards;
  }

  /** Whether something has waited for a slot in another shard of the type than this one. Throws RedisUnavailable. */
  async isScarceBeside(type: string, own: ShardTag): Promise<boolean> {
    if (this.#shards.count === 1) return false;
    const seen = this.#seen.get(type);
    const scarce = await (seen && performance.now() < seen.untilMs ? seen.scarce : this.#look(type));
    return scarce.size > (scarce.has(own) ? 1 : 0);
  }

  #look(type: string): Promise<ReadonlySet<ShardTag>> {
    const scarce = this.#ask(type);
    this.#seen.set(type, { untilMs: performance.now() + FRESH_MS, scarce });
    scarce.catch(() => this.#seen.delete(type));
    return scarce;
  }

  async #ask(type: string): Promise<ReadonlySet<ShardTag>> {
    const tags = this.#shards.tags(type);
    const found = await Promise.all(
      tags.map((tag) => orUnavailable(() => runScript(this.#redis, { script: scripts.stats, tag, argv: [''] }))),
    );
    return new Set(tags.filter((_, shard) => found[shard]?.scarceUs !== null));
  }
}

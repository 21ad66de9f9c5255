import { answersOf } from '../redis/answers-of.js';
import { orUnavailable, type RedisLink } from '../redis/connection.js';
import type { ShardTag } from '../redis/keys.js';
import { isCluster } from '../redis/masters.js';
import { runScript } from '../redis/script.js';
import type { Shards } from '../redis/shards.js';
import { scripts } from './scripts.js';

/** For how long what was seen is as good as a new look, in milliseconds: so long a lack of workers must last to count. */
const FRESH_MS = 50;
/** How long a look at a cluster is waited for: a master that is silent is no reason to keep tenants of others waiting. */
const PATIENCE_MS = 100;

/** The shards of a type in which workers are scarce. */
type Scarce = ReadonlySet<ShardTag>;

interface Seen {
  readonly untilMs: number;
  readonly look: Promise<Scarce>;
  /** What the look found, or, until it has, the one before. */
  found: Scarce;
}

/**
 * Knows whether workers of a type are scarce in any of its shards, which a shard alone cannot tell: a slot is free for it
 * only if nothing waits for one elsewhere. The shards are asked when somebody wants to know and it is too long ago; with one shard
 * never. Where a master is away nothing of its shards waits for a slot. The connection is the caller's to close.
 */
export class ShardWatch {
  readonly #redis: RedisLink;
  readonly #shards: Shards;
  readonly #seen = new Map<string, Seen>();

  constructor(redis: RedisLink, shards: Shards) {
    this.#redis = redis;
    this.#shards = shards;
  }

  /** Whether something has waited for a slot in another shard of the type than this one. Throws RedisUnavailable. */
  async isScarceBeside(type: string, own: ShardTag): Promise<boolean> {
    if (this.#shards.count === 1) return false;
    const last = this.#seen.get(type);
    const seen = last && performance.now() < last.untilMs ? last : this.#look(type, last?.found ?? new Set());
    const scarce = isCluster(this.#redis) ? await foundSoon(seen) : await seen.look;
    return scarce.size > (scarce.has(own) ? 1 : 0);
  }

  #look(type: string, before: Scarce): Seen {
    const seen: Seen = { untilMs: performance.now() + FRESH_MS, look: this.#ask(type), found: before };
    this.#seen.set(type, seen);
    seen.look.then(
      (found) => {
        seen.found = found;
      },
      () => this.#seen.delete(type),
    );
    return seen;
  }

  async #ask(type: string): Promise<Scarce> {
    const tags = this.#shards.tags(type);
    const found = await answersOf(
      tags.map((tag) => orUnavailable(() => runScript(this.#redis, { script: scripts.stats, tag, argv: [''] }))),
    );
    return new Set(tags.filter((_, shard) => typeof found[shard]?.scarceUs === 'number'));
  }
}

async function foundSoon(seen: Seen): Promise<Scarce> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS);
  });
  await Promise.race([seen.look, late]).finally(() => clearTimeout(timer));
  return seen.found;
}

import { answersOf } from '../redis/answers-of.js';
import { orUnavailable, type RedisLink } from '../redis/connection.js';
import { type ShardTag, shardTag } from '../redis/keys.js';
import { isCluster } from '../redis/masters.js';
import { runScript } from '../redis/script.js';
import { permitScripts } from './permit-scripts.js';
import { scripts } from './scripts.js';
import { type Settings, typeSettings } from './settings.js';

/** For how long what was seen is as good as a new look, in milliseconds: so long a lack of workers must last to count. */
const FRESH_MS = 50;
/** How long a look at a cluster is waited for: a master that is silent is no reason to keep tenants of others waiting. */
const PATIENCE_MS = 100;

/** The shards of a type in which something waits for a slot, and how many slots the type has left. */
interface Found {
  readonly scarce: ReadonlySet<ShardTag>;
  readonly freeSlots: number;
}

interface Seen {
  readonly untilMs: number;
  readonly look: Promise<Found>;
  /** What the look found, or, until it has, the one before. */
  found: Found;
}

const NOTHING_SCARCE: Found = { scarce: new Set(), freeSlots: Infinity };
/** Where nobody has said how many slots a type has left. */
const NOTHING_SURE: Found = { scarce: new Set(), freeSlots: 0 };

/**
 * Knows how many jobs of a type may start beside those of one shard, which a shard alone cannot tell: a slot is free for it
 * only if nothing waits for one elsewhere, and the capacity of the type holds over all of them. The shards are asked when somebody wants
 * to know and it is too long ago; with one shard never. Where a master is away nothing of its shards waits for a slot. The connection
 * is the caller's to close.
 */
export class ShardWatch {
  readonly #redis: RedisLink;
  readonly #settings: Settings;
  readonly #seen = new Map<string, Seen>();

  constructor(redis: RedisLink, settings: Settings) {
    this.#redis = redis;
    this.#settings = settings;
  }

  /**
   * How many jobs more may start by what is seen beside this shard: `Infinity` where nothing is in the way, 0 where something has
   * waited for a slot in another shard, no slot is left, or the type has a rate, of which one shard knows nothing. Throws RedisUnavailable.
   */
  async freeBeside(type: string, own: ShardTag): Promise<number> {
    if (this.#settings.shards.count === 1) return Infinity;
    const { ratePerSecond, concurrency } = typeSettings(this.#settings, type).capacity;
    if (ratePerSecond < Infinity) return 0;
    const last = this.#seen.get(type);
    const before = last?.found ?? (concurrency < Infinity ? NOTHING_SURE : NOTHING_SCARCE);
    const seen = last && performance.now() < last.untilMs ? last : this.#look(type, before);
    const { scarce, freeSlots } = isCluster(this.#redis) ? await foundSoon(seen) : await seen.look;
    return scarce.size > (scarce.has(own) ? 1 : 0) ? 0 : freeSlots;
  }

  /**
   * How many slots of the type are taken; `Infinity` where nobody counts them. Shards are read one after another, so that a job may end in
   * one and the next begin in another meanwhile: what runs in all is no more than this.
   */
  async slotsTaken(type: string): Promise<number> {
    const { concurrency } = typeSettings(this.#settings, type).capacity;
    if (this.#settings.shards.count === 1 || concurrency === Infinity) return Infinity;
    const call = { script: permitScripts.taken, tag: shardTag(type), argv: [''] };
    return (await orUnavailable(() => runScript(this.#redis, call))).slots;
  }

  #look(type: string, before: Found): Seen {
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

  async #ask(type: string): Promise<Found> {
    const tags = this.#settings.shards.tags(type);
    const [slots, found] = await Promise.all([
      this.slotsTaken(type),
      answersOf(
        tags.map((tag) => orUnavailable(() => runScript(this.#redis, { script: scripts.stats, tag, argv: [''] }))),
      ),
    ]);
    const { concurrency } = typeSettings(this.#settings, type).capacity;
    return {
      scarce: new Set(tags.filter((_, shard) => typeof found[shard]?.scarceUs === 'number')),
      freeSlots: slots === Infinity ? Infinity : Math.max(0, concurrency - slots),
    };
  }
}

async function foundSoon(seen: Seen): Promise<Found> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS);
  });
  await Promise.race([seen.look, late]).finally(() => clearTimeout(timer));
  return seen.found;
}

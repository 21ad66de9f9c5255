import { DELIVERY_TYPE } from '../config/delivery-type.js';
import { answersOf } from '../redis/answers-of.js';
import { orUnavailable, type RedisLink } from '../redis/connection.js';
import { decodeTenant, outboxKey } from '../redis/keys.js';
import type { Shards } from '../redis/shards.js';
import { deliveryJob, type OutboxEntry } from './delivery.js';
import type { Shaping } from './shaping.js';

/** Entries that are read at once. */
const PAGE = 100;

/** What a log says of it. */
export const DROPPED = 'a webhook was dropped: too many of the tenant wait';

/** A delivery for which its tenant's queue of deliveries had no place. */
export interface Dropped {
  readonly tenant: string;
  readonly type: string;
  readonly id: string;
  readonly ending: string;
}

/**
 * Makes deliveries, which are jobs of {@link DELIVERY_TYPE}, of the ends that stand in the outboxes of other types. An entry
 * goes once its delivery is stored: who dies in between leaves it to the next one, and the delivery is known by its id.
 * Any number of processes may do this at once.
 */
export class Outbox {
  readonly #redis: RedisLink;
  readonly #shards: Shards;
  readonly #shaping: Pick<Shaping, 'admit'>;
  readonly #onDropped: (dropped: Dropped) => void;
  /** By type: the drain under way, and whether another is asked for. */
  readonly #draining = new Map<string, { done: Promise<void>; again: boolean }>();

  /** The connection is the caller's to close. */
  constructor(
    redis: RedisLink,
    shards: Shards,
    shaping: Pick<Shaping, 'admit'>,
    onDropped: (dropped: Dropped) => void,
  ) {
    this.#redis = redis;
    this.#shards = shards;
    this.#shaping = shaping;
    this.#onDropped = onDropped;
  }

  /**
   * Empties the outbox of a type; resolves once all that stood in it by now is on its way. Throws RedisUnavailable; what is
   * left then stays for the next time.
   */
  drain(type: string): Promise<void> {
    const underWay = this.#draining.get(type);
    if (underWay) {
      underWay.again = true;
      return underWay.done;
    }
    const mine = { done: Promise.resolve(), again: false };
    this.#draining.set(type, mine);
    mine.done = this.#drainAll(type, mine);
    return mine.done;
  }

  async #drainAll(type: string, asked: { again: boolean }): Promise<void> {
    try {
      do {
        asked.again = false;
        // One that is away keeps its ends, and the others none of theirs.
        await answersOf(this.#shards.tags(type).map((tag) => this.#drainShard(type, outboxKey(tag))));
      } while (asked.again);
    } finally {
      this.#draining.delete(type);
    }
  }

  async #drainShard(type: string, key: string): Promise<void> {
    while (await this.#drainPage(type, key));
  }

  /** True when there may be more. */
  async #drainPage(type: string, key: string): Promise<boolean> {
    const found = await orUnavailable(() => this.#redis.xrange(key, '-', '+', 'COUNT', PAGE));
    const entries = found.map(([entryId, fields]) => entryOf(type, entryId, fields));
    for (const tenant of new Set(entries.map((entry) => entry.tenant))) {
      const own = entries.filter((entry) => entry.tenant === tenant);
      const { admissions } = await this.#shaping.admit(DELIVERY_TYPE, tenant, own.map(deliveryJob));
      const decided = own.slice(0, admissions.length);
      for (const [i, { id, ending }] of decided.entries()) {
        if (admissions[i]?.verdict === 'rejected') this.#onDropped({ tenant, type, id, ending });
      }
      const ids = decided.map(({ entryId }) => entryId);
      if (ids.length > 0) await orUnavailable(() => this.#redis.xdel(key, ...ids));
      // Redis is full: what is left stays where it is.
      if (decided.length < own.length) return false;
    }
    return found.length === PAGE;
  }
}

function entryOf(type: string, entryId: string, flat: readonly string[]): OutboxEntry {
  const fields = new Map<string, string>();
  for (let i = 0; i + 1 < flat.length; i += 2) fields.set(flat[i] ?? '', flat[i + 1] ?? '');
  const text = (name: string): string => fields.get(name) ?? '';
  return {
    entryId,
    type,
    tenant: decodeTenant(text('tenant')),
    id: text('id'),
    ending: text('ending'),
    atMs: Number(text('at')),
    mark: text('hook'),
    value: text('value'),
    bytes: Number(text('bytes')),
  };
}

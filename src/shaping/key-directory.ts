import { API_KEYS_CHANNEL } from '../redis/keys.js';
import { isPassing } from '../redis/outage.js';
import type { Subscriber } from '../redis/subscriber.js';
import type { RedisTenantKeys } from './tenant-keys.js';

/** A message may get lost: what was found is looked up again after this, in milliseconds. */
const FRESH_MS = 5000;
const USED_EVERY_MS = 60_000;
/** Keys that are remembered, and hashes that are none. */
const MOST = 10_000;

interface Found {
  readonly tenant: string;
  readonly foundAt: number;
  usedAt: number;
}

/** Whose a key is that was made at run time, by its hash. */
export interface KeyDirectory {
  /** True for a key that was one when it was last looked up: to ask for it again costs next to nothing. */
  remembers(hash: string): boolean;
  /** The tenant whose key has this hash. Throws RedisUnavailable when that is not known and Redis did not answer. */
  find(hash: string): Promise<string | undefined>;
}

/**
 * {@link KeyDirectory} over Redis. What was found is remembered for a moment, and forgotten as soon as some process makes or
 * revokes that key. While Redis is away what was known holds: nobody can revoke a key then either.
 *
 * Strangers cost nothing lasting: so many hashes that are no key are remembered, apart from the keys, and the oldest go first.
 */
export class RemoteKeyDirectory implements KeyDirectory {
  readonly #keys: Pick<RedisTenantKeys, 'find' | 'use'>;
  readonly #now: () => number;
  readonly #known = new Map<string, Found>();
  readonly #unknown = new Map<string, number>();
  readonly #asked = new Map<string, Promise<string | undefined>>();
  readonly #leave: (() => void)[];
  #changes = 0;

  /** @param now Monotonic milliseconds. */
  constructor(
    keys: Pick<RedisTenantKeys, 'find' | 'use'>,
    subscriber: Pick<Subscriber, 'subscribe' | 'onSubscribed'>,
    now: () => number = () => performance.now(),
  ) {
    this.#keys = keys;
    this.#now = now;
    this.#leave = [
      subscriber.subscribe(API_KEYS_CHANNEL, (hash) => this.forget(hash)),
      subscriber.onSubscribed(() => this.#doubtAll()),
    ];
  }

  close(): void {
    for (const leave of this.#leave) leave();
  }

  remembers(hash: string): boolean {
    return this.#known.has(hash);
  }

  async find(hash: string): Promise<string | undefined> {
    const now = this.#now();
    const unknownSince = this.#unknown.get(hash);
    if (unknownSince !== undefined && now - unknownSince < FRESH_MS) return undefined;
    const known = this.#known.get(hash);
    const tenant = known && now - known.foundAt < FRESH_MS ? known.tenant : await this.#ask(hash, known);
    if (tenant !== undefined) this.#wasUsed(hash);
    return tenant;
  }

  /** Some process has made or revoked this key. */
  forget(hash: string): void {
    this.#changes += 1;
    this.#known.delete(hash);
    this.#unknown.delete(hash);
    this.#asked.delete(hash);
  }

  async #ask(hash: string, known: Found | undefined): Promise<string | undefined> {
    const asked = this.#asked.get(hash) ?? this.#lookUp(hash).finally(() => this.#asked.delete(hash));
    this.#asked.set(hash, asked);
    try {
      return await asked;
    } catch (error) {
      if (known && isPassing(error) && this.#known.get(hash) === known) return known.tenant;
      throw error;
    }
  }

  /** What was read while something changed may be older than that, and is not remembered. */
  async #lookUp(hash: string): Promise<string | undefined> {
    const changes = this.#changes;
    const tenant = await this.#keys.find(hash);
    if (changes !== this.#changes) return tenant;
    const now = this.#now();
    if (tenant === undefined) {
      this.#known.delete(hash);
      remember(this.#unknown, hash, now);
    } else {
      remember(this.#known, hash, { tenant, foundAt: now, usedAt: this.#known.get(hash)?.usedAt ?? -Infinity });
    }
    return tenant;
  }

  #wasUsed(hash: string): void {
    const known = this.#known.get(hash);
    const now = this.#now();
    if (known && now - known.usedAt < USED_EVERY_MS) return;
    if (known) known.usedAt = now;
    // Nobody waits for it, and an outage only makes it less exact.
    this.#keys.use(hash).catch(() => undefined);
  }

  /** Messages may have been lost: everything is looked up again when it is next asked for. */
  #doubtAll(): void {
    this.#changes += 1;
    this.#unknown.clear();
    for (const [hash, known] of this.#known) this.#known.set(hash, { ...known, foundAt: -Infinity });
  }
}

function remember<Value>(memory: Map<string, Value>, hash: string, value: Value): void {
  memory.delete(hash);
  memory.set(hash, value);
  const [oldest] = memory.keys();
  if (memory.size > MOST && oldest !== undefined) memory.delete(oldest);
}

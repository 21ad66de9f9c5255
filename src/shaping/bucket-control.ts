import { orUnavailable, type RedisLink } from '../redis/connection.js';
import { decodeTenant, encodeTenant, scheduleKeys } from '../redis/keys.js';
import { type Argument, runScript, type Script } from '../redis/script.js';
import { scripts } from './scripts.js';
import { type Settings, typeSettings } from './settings.js';

/** Jobs that one script cancels: some 10 ms in which Redis does nothing else. */
const CHUNK = 200;
/** Jobs that one call cancels, at most: beyond, the caller calls again. */
const PURGE_LIMIT = 100_000;
const PAGE = 200;
/** A bucket that moves between the sets while they are walked may be missed by one walk. */
const WALKS = 3;

/** Hears how many jobs of a bucket were cancelled by an order, as soon as they are. */
export type OnCancelled = (bucket: { readonly type: string; readonly tenant: string }, jobs: number) => void;

/** What a purge came to. */
export interface Purged {
  readonly cancelled: number;
  /** Whether jobs that waited when it began may wait still. */
  readonly more: boolean;
}

/** What an erasure came to. */
export interface Erased {
  /** Jobs that are gone, with payloads and results. */
  readonly erased: number;
  /** Jobs that run still and go when they end. */
  readonly running: number;
  /** Whether there was more than one call erases: ask again. */
  readonly more: boolean;
}

/**
 * What administrators do to buckets beside changing their profiles. The connection is the caller's to close.
 *
 * Every method throws RedisUnavailable when Redis did not answer.
 */
export class BucketControl {
  readonly #redis: RedisLink;
  readonly #settings: Settings;
  readonly #onCancelled: OnCancelled;

  constructor(redis: RedisLink, settings: Settings, onCancelled: OnCancelled = () => undefined) {
    this.#redis = redis;
    this.#settings = settings;
    this.#onCancelled = onCancelled;
  }

  /** Whether a bucket was paused by hand. */
  async isPaused(type: string, tenant: string): Promise<boolean> {
    const [paused = false] = await this.#run(scripts.pauses, type, tenant, []);
    return paused;
  }

  /** Lets a bucket start nothing more, or go on. */
  async pause(type: string, tenant: string, stopped: boolean): Promise<void> {
    await this.#run(scripts.pause, type, tenant, [stopped ? '1' : '0']);
  }

  /** Cancels what waits in a bucket now. */
  purge(type: string, tenant: string): Promise<Purged> {
    return this.#purgeBucket(type, tenant, PURGE_LIMIT);
  }

  /** Lets nothing remain of a tenant in a bucket; what runs goes when it ends. */
  async erase(type: string, tenant: string): Promise<Erased> {
    let erased = 0;
    for (;;) {
      const reply = await this.#run(scripts.erase, type, tenant, [CHUNK]);
      if (reply.cancelled > 0) this.#onCancelled({ type, tenant }, reply.cancelled);
      erased += reply.erased;
      const done = reply.remain === 0 || reply.erased === 0;
      if (done || erased >= PURGE_LIMIT) return { erased, running: reply.running, more: !done };
    }
  }

  /** Cancels what waits in every bucket of a type. */
  async purgeType(type: string): Promise<Purged> {
    const keys = this.#settings.shards.tags(type).flatMap((tag) => {
      const { due, ready } = scheduleKeys(tag);
      return [due, ready];
    });
    let cancelled = 0;
    for (let walk = 0; walk < WALKS; walk += 1) {
      const before = cancelled;
      for (const key of keys) {
        for (let cursor = '0', first = true; first || cursor !== '0'; first = false) {
          const [next, page] = await orUnavailable(() => this.#redis.zscan(key, cursor, 'COUNT', PAGE));
          cursor = next;
          for (const tenant of page.filter((_, i) => i % 2 === 0)) {
            const purged = await this.#purgeBucket(type, decodeTenant(tenant), PURGE_LIMIT - cancelled);
            cancelled += purged.cancelled;
            if (cancelled >= PURGE_LIMIT) return { cancelled, more: true };
          }
        }
      }
      if (cancelled === before) break;
    }
    return { cancelled, more: false };
  }

  async #purgeBucket(type: string, tenant: string, limit: number): Promise<Purged> {
    const { ageMs, count } = typeSettings(this.#settings, type).keepResults;
    let cancelled = 0;
    // What comes in meanwhile came after the purge.
    let waited = limit;
    while (cancelled < waited) {
      const chunk = Math.min(CHUNK, waited - cancelled);
      const reply = await this.#run(scripts.purge, type, tenant, [chunk, ageMs, count]);
      if (reply.cancelled > 0) this.#onCancelled({ type, tenant }, reply.cancelled);
      if (cancelled === 0) waited = Math.min(limit, reply.cancelled + reply.left);
      cancelled += reply.cancelled;
      if (reply.left === 0 || reply.cancelled === 0) return { cancelled, more: false };
    }
    return { cancelled, more: cancelled >= limit };
  }

  #run<Reply>(script: Script<Reply>, type: string, tenant: string, rest: readonly Argument[]): Promise<Reply> {
    const tag = this.#settings.shards.tagOf(type, tenant);
    return orUnavailable(() => runScript(this.#redis, { script, tag, argv: ['', encodeTenant(tenant), ...rest] }));
  }
}

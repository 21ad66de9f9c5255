import { orUnavailable, type RedisLink } from '../redis/connection.js';
import { KNOWN_TYPES, scriptKeys } from '../redis/keys.js';
import { runScript } from '../redis/script.js';
import { openTypeSource } from './open-type-source.js';
import { scripts } from './scripts.js';
import { GONE_TYPE, type Settings } from './settings.js';
import { OtherData, refuseOtherData } from './stored-data.js';
import type { UnseenEnd } from './unseen-end.js';

/** Jobs that one script fails: some 10 ms in which Redis does nothing else. */
const CHUNK = 200;
/** How often a job may stall before it fails. */
const MAX_STALLED = 1;

export interface ForsakenOptions {
  /** How long nobody may have served a type, in milliseconds. */
  readonly afterMs: number;
  /** A monotonic clock, in milliseconds. */
  readonly clock?: () => number;
  /** Told of jobs that ended here. */
  readonly onUnseen: (ends: readonly UnseenEnd[]) => void;
  /** Somebody wants to be told of ends in this type. */
  readonly drain: (type: string) => Promise<void>;
}

/**
 * Types that are in no configuration any more. What waits in one would wait for ever: once nobody has served it for a while it
 * fails with a reason, and what is kept of the type goes when its time is over.
 *
 * Not every process has the same file at every moment, as when a new one is rolled out: a type that is unknown here may be
 * served elsewhere. Whoever serves it touches its state every few seconds even when idle, so one whose state has not changed
 * between two looks that lie `afterMs` apart is served by nobody. What this writes itself does not count.
 */
export class ForsakenTypes {
  readonly #redis: RedisLink;
  readonly #settings: Settings;
  readonly #options: ForsakenOptions;
  /** Of types that are not configured here: how their state was, and since when it has been so. */
  readonly #unchanged = new Map<string, { readonly state: string; readonly sinceMs: number }>();

  /** The connection is the caller's to close. */
  constructor(redis: RedisLink, settings: Settings, options: ForsakenOptions) {
    this.#redis = redis;
    this.#settings = settings;
    this.#options = options;
  }

  /** Says which types are known here, and looks at those that are not. Throws RedisUnavailable. */
  async look(): Promise<void> {
    const own = this.#settings.typeNames();
    if (own.length > 0) await orUnavailable(() => this.#redis.sadd(KNOWN_TYPES, ...own));
    const known = await orUnavailable(() => this.#redis.smembers(KNOWN_TYPES));
    for (const type of known) if (this.#settings.type(type) === undefined) await this.#lookAt(type);
  }

  async #lookAt(type: string): Promise<void> {
    const { afterMs, clock = () => performance.now() } = this.#options;
    const state = await this.#stateOf(type);
    const before = this.#unchanged.get(type);
    if (before?.state !== state) {
      this.#unchanged.set(type, { state, sinceMs: clock() });
    } else if (clock() - before.sinceMs >= afterMs && (await this.#isReadable(type))) {
      const left = await this.#forsake(type);
      this.#unchanged.set(type, { state: await this.#stateOf(type), sinceMs: before.sinceMs });
      if (left > 0) return;
      await orUnavailable(() => this.#redis.srem(KNOWN_TYPES, type));
      this.#unchanged.delete(type);
    }
  }

  /** Ends what is there, and answers how much is left. */
  async #forsake(type: string): Promise<number> {
    const settings: Settings = { ...this.#settings, type: () => GONE_TYPE, shards: this.#settings.shards };
    const source = openTypeSource(this.#redis, type, settings, { worker: 'nobody', lockMs: 0 });
    await source.recover(MAX_STALLED);
    const { ageMs, count } = GONE_TYPE.keepResults;
    const argv = ['', CHUNK, ageMs, count, `no process serves the type "${type}" any more: it is not configured`];
    let left = 0;
    for (const tag of this.#settings.shards.tags(type)) {
      for (let failed = CHUNK; failed > 0; ) {
        const reply = await orUnavailable(() => runScript(this.#redis, { script: scripts.forsake, tag, argv }));
        failed = reply.failed;
        if (failed === 0) left += reply.left;
      }
    }
    await source.sweep(this.#options.onUnseen);
    await this.#options.drain(type);
    return left;
  }

  /** All that changes whenever anybody serves the type. */
  async #stateOf(type: string): Promise<string> {
    const states = this.#settings.shards.tags(type).map(async (tag) => {
      const [key] = scriptKeys(tag);
      const state = await orUnavailable(() => this.#redis.hgetBuffer(key, 's'));
      return state?.toString('base64') ?? '';
    });
    return (await Promise.all(states)).join(' ');
  }

  /** Data of another version, or spread otherwise, is left to whoever wrote it. */
  async #isReadable(type: string): Promise<boolean> {
    try {
      await refuseOtherData(this.#redis, [type], this.#settings.shards.count);
      return true;
    } catch (error) {
      if (error instanceof OtherData) return false;
      throw error;
    }
  }
}

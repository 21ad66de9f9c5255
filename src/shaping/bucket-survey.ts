import { orUnavailable, type RedisLink } from '../redis/connection.js';
import { encodeTenant, type ShardTag, shardTag } from '../redis/keys.js';
import { runScript } from '../redis/script.js';
import { msOf } from './ms-of.js';
import type { Settings } from './settings.js';
import type { BucketView } from './shaping.js';
import { scripts } from './survey-scripts.js';
import { tenantsAt } from './tenants-at.js';

/** A bucket as a survey finds it. */
export interface SurveyedBucket extends BucketView {
  /** When it was found so, in ms since 1970 by the clock of this process. */
  readonly atMs: number;
  /** Nothing of it starts: it was paused by hand, or a rate of its own is 0. */
  readonly paused: boolean;
  /** For how long its upstream, which is busy, holds it; milliseconds. */
  readonly heldForMs: number;
  /** By how much its next start is late, because nobody has a slot for it; milliseconds. */
  readonly lateMs: number;
  /**
   * For how long the job has waited that waits longest, since it was admitted, fell due or was last started; milliseconds,
   * `null` where none waits.
   */
  readonly longestMs: number | null;
}

/** Buckets that one call to Redis looks at: it is kept from others for a millisecond or so. */
const AT_ONCE = 50;

/** Looks at many buckets, a few calls for all of them. Throws RedisUnavailable when Redis did not answer. */
export class BucketSurvey {
  readonly #redis: RedisLink;
  readonly #settings: Settings;

  /** The connection is the caller's to close. */
  constructor(redis: RedisLink, settings: Settings) {
    this.#redis = redis;
    this.#settings = settings;
  }

  /** Tenants with something waiting, delayed or running, as {@link tenantsAt} walks them. */
  async tenants(type: string, cursor: string | undefined, limit: number) {
    const page = await orUnavailable(() => tenantsAt(this.#redis, this.#settings.shards.tags(type), cursor, limit));
    return { tenants: page.tenants, cursor: page.cursor };
  }

  /** These buckets, in their order. */
  async buckets(type: string, tenants: readonly string[]): Promise<readonly SurveyedBucket[]> {
    const { shards } = this.#settings;
    const found = new Map<string, SurveyedBucket>();
    for (const [shard, own] of shards.group(tenants)) {
      for (const bucket of await this.#bucketsAt(type, shardTag(type, shard), own)) found.set(bucket.tenant, bucket);
    }
    return tenants.flatMap((tenant) => found.get(tenant) ?? []);
  }

  async #bucketsAt(type: string, tag: ShardTag, tenants: readonly string[]): Promise<readonly SurveyedBucket[]> {
    const found: SurveyedBucket[] = [];
    for (let from = 0; from < tenants.length; from += AT_ONCE) {
      const asked = tenants.slice(from, from + AT_ONCE);
      const argv = ['', ...asked.map(encodeTenant)];
      const states = await orUnavailable(() => runScript(this.#redis, { script: scripts.survey, tag, argv }));
      const atMs = Date.now();
      states.forEach(({ nextStartUs, heldUs, lateUs, ...state }, i) => {
        const tenant = asked[i] ?? '';
        found.push({
          type,
          tenant,
          atMs,
          profile: this.#settings.profile(type, tenant),
          ...state,
          nextStartMs: nextStartUs === null ? null : msOf(nextStartUs),
          heldForMs: msOf(heldUs),
          lateMs: msOf(lateUs),
        });
      });
    }
    return found;
  }
}

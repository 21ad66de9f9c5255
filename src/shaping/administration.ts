import type { LiveConfig } from '../config/live-config.js';
import type { OverrideSubject } from '../config/override-subject.js';
import type { OverrideChange } from '../config/read-override.js';
import { applyChanges, type ScheduleParts } from './apply-changes.js';
import { BucketControl, type Erased, type OnCancelled, type Purged } from './bucket-control.js';
import type { OverrideFollower } from './override-follower.js';
import type { OverrideStore } from './override-store.js';
import { RedisTenantKeys, type TenantKeys } from './tenant-keys.js';

/**
 * What an administrator may do while everything runs. Every method throws RedisUnavailable when Redis did not answer; what
 * was asked for may then have happened, or half of it, and may be asked for again.
 */
export interface Administration {
  /** What holds in this process. */
  readonly live: LiveConfig;
  /**
   * Stores a change, checked before; it holds in this process and for what already waits once this resolves, and a moment
   * later in all others. Answers how many buckets were re-timed.
   */
  change(subject: OverrideSubject, change: OverrideChange, replace: boolean): Promise<number>;
  /** Whether a bucket was paused by hand. */
  isPaused(type: string, tenant: string): Promise<boolean>;
  pause(type: string, tenant: string, stopped: boolean): Promise<void>;
  pauseType(type: string, stopped: boolean): Promise<void>;
  /** Cancels what waits, delayed jobs included. */
  purge(type: string, tenant: string): Promise<Purged>;
  purgeType(type: string): Promise<Purged>;
  /** Keys of tenants. */
  readonly keys: TenantKeys;
  /** Lets nothing remain of a tenant's jobs of a type; what runs goes when it ends. */
  erase(type: string, tenant: string): Promise<Erased>;
}

export interface AdministrationParts extends ScheduleParts {
  readonly store: OverrideStore;
  readonly follower: OverrideFollower;
  /** Hears of jobs that a purge or an erasure cancels. */
  readonly onCancelled?: OnCancelled;
}

/** {@link Administration} over Redis. */
export function administration(parts: AdministrationParts): Administration {
  const { redis, settings, live, store, follower, onCancelled } = parts;
  const buckets = new BucketControl(redis, settings, onCancelled);
  const change: Administration['change'] = async (subject, asked, replace) => {
    follower.adopt(subject, await store.change(subject, asked, replace));
    return applyChanges(parts, [subject]);
  };
  return {
    live,
    change,
    pauseType: async (type, stopped) => {
      await change({ kind: 'type', name: type }, new Map([['paused', stopped ? '1' : null]]), false);
    },
    isPaused: (type, tenant) => buckets.isPaused(type, tenant),
    pause: (type, tenant, stopped) => buckets.pause(type, tenant, stopped),
    purge: (type, tenant) => buckets.purge(type, tenant),
    purgeType: (type) => buckets.purgeType(type),
    keys: new RedisTenantKeys(redis),
    erase: (type, tenant) => buckets.erase(type, tenant),
  };
}

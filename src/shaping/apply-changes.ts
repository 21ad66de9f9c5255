import type { LiveConfig } from '../config/live-config.js';
import type { OverrideSubject } from '../config/override-subject.js';
import type { RedisLink } from '../redis/connection.js';
import { openTypeSource } from './open-type-source.js';
import type { Settings } from './settings.js';
import { syncProfile, syncProfiles } from './sync-profiles.js';

/** From so many tenants and tiers on, one look at everything that waits is cheaper than one at each. */
const ONE_BY_ONE = 20;

/** What changes are brought to: the schedule in Redis. */
export interface ScheduleParts {
  readonly redis: RedisLink;
  readonly live: LiveConfig;
  readonly settings: Settings;
}

/**
 * Lets what already waits follow changes of these subjects, which hold in `live` already. Idempotent: whoever does it a
 * second time, or after another process, finds nothing to do.
 *
 * @returns how many buckets were re-timed.
 */
export async function applyChanges(parts: ScheduleParts, subjects: readonly OverrideSubject[]): Promise<number> {
  const { redis, settings } = parts;
  await applyCapacities(parts, subjects);
  const profiles = subjects.filter(({ kind }) => kind !== 'type');
  if (profiles.length > ONE_BY_ONE) return retimeAll(redis, settings);
  let retimed = 0;
  for (const subject of profiles) retimed += await retimeSubject(parts, subject);
  return retimed;
}

/** The same of capacities alone, which is all that a worker has to do with. */
export async function applyCapacities(
  { redis, settings }: ScheduleParts,
  subjects: readonly OverrideSubject[],
): Promise<void> {
  for (const { kind, name } of subjects) {
    if (kind === 'type' && settings.type(name) !== undefined) await configureType(redis, settings, name);
  }
}

/** Re-times every bucket with something waiting that does not follow yet. */
export async function retimeAll(redis: RedisLink, settings: Settings): Promise<number> {
  let retimed = 0;
  for (const type of settings.typeNames()) retimed += await syncProfiles(redis, settings, type);
  return retimed;
}

async function retimeSubject({ redis, live, settings }: ScheduleParts, subject: OverrideSubject): Promise<number> {
  const { tenants, defaultTier } = live.view;
  const isOfTier = (tenant: string) => (tenants.get(tenant)?.tier ?? defaultTier) === subject.name;
  let retimed = 0;
  for (const type of settings.typeNames()) {
    if (subject.kind === 'tier') retimed += await syncProfiles(redis, settings, type, isOfTier);
    else if (await syncProfile(redis, settings, type, subject.name)) retimed += 1;
  }
  return retimed;
}

function configureType(redis: RedisLink, settings: Settings, type: string): Promise<void> {
  // It takes no job: neither a name nor a lock is of any use to it.
  return openTypeSource(redis, type, settings, { worker: '', lockMs: 0 }).configure();
}

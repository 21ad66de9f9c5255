import { orUnavailable, type RedisLink } from '../redis/connection.js';
import {
  bucketKey,
  decodeTenant,
  type EncodedTenant,
  encodeTenant,
  type ShardTag,
  scheduleKeys,
} from '../redis/keys.js';
import { runScripts } from '../redis/script.js';
import { PROFILE_BYTES, profileBytes } from './profile-bytes.js';
import { scripts } from './scripts.js';
import { type Settings, typeSettings } from './settings.js';

const PAGE = 200;

/**
 * A bucket that moves between the two sets may be in neither where one looks. Such are few, and fewer with every look: so
 * it is looked again until nothing is found, but so often at most.
 */
const LOOKS = 5;

/**
 * Re-times every bucket with something waiting whose stored profile is not the one that holds now: after a start with a
 * changed configuration, what already waits follows it at once. Quiet buckets follow when they are next touched.
 *
 * @param concerns Which tenants to look at; all of them unless stated.
 * @returns how many buckets changed.
 */
export async function syncProfiles(
  redis: RedisLink,
  settings: Settings,
  type: string,
  concerns: (tenant: string) => boolean = () => true,
): Promise<number> {
  let changed = 0;
  for (let looks = 0; looks < LOOKS; looks += 1) {
    let found = 0;
    for (const tag of settings.shards.tags(type)) found += await syncOnce({ redis, settings, type, tag }, concerns);
    changed += found;
    if (found === 0) break;
  }
  return changed;
}

/** The same of one bucket, whether or not something waits in it. True when it changed. */
export async function syncProfile(
  redis: RedisLink,
  settings: Settings,
  type: string,
  tenant: string,
): Promise<boolean> {
  const tag = settings.shards.tagOf(type, tenant);
  return (await syncPage({ redis, settings, type, tag }, [encodeTenant(tenant)])) > 0;
}

/** What is looked through: one shard of a type. */
interface Place {
  readonly redis: RedisLink;
  readonly settings: Settings;
  readonly type: string;
  readonly tag: ShardTag;
}

async function syncOnce(place: Place, concerns: (tenant: string) => boolean): Promise<number> {
  const { redis, tag } = place;
  const { due, ready, running } = scheduleKeys(tag);
  const ofConcern = (encoded: string) => concerns(decodeTenant(encoded));
  let changed = 0;
  for (const key of [due, ready]) {
    for await (const page of redis.zscanStream(key, { count: PAGE })) {
      changed += await syncPage(place, everySecond(page).filter(ofConcern));
    }
  }
  const held = new Set((await redis.hvals(running)).map((entry) => entry.split(' ')[0] ?? ''));
  return changed + (await syncPage(place, [...held].filter(ofConcern)));
}

async function syncPage({ redis, settings, type, tag }: Place, tenants: readonly string[]): Promise<number> {
  if (tenants.length === 0) return 0;
  const { slackUs } = typeSettings(settings, type);
  const pipeline = redis.pipeline();
  for (const tenant of tenants) pipeline.getrangeBuffer(bucketKey(tag, tenant as EncodedTenant), 0, PROFILE_BYTES - 1);
  const stored = (await orUnavailable(() => pipeline.exec())) ?? [];
  const calls = tenants.flatMap((tenant, i) => {
    const profile = profileBytes(settings.profile(type, decodeTenant(tenant)), slackUs);
    return isOlder(stored[i]?.[1], profile) ? [{ script: scripts.retime, tag, argv: ['', tenant, profile] }] : [];
  });
  const replies = await orUnavailable(() => runScripts(redis, calls));
  let changed = 0;
  for (const answer of replies) {
    if ('error' in answer) await orUnavailable(() => Promise.reject(answer.error));
    else if (answer.reply) changed += 1;
  }
  return changed;
}

/** A bucket that is not there follows when it comes to be. */
function isOlder(stored: unknown, profile: Buffer): boolean {
  return Buffer.isBuffer(stored) && stored.length > 0 && !stored.equals(profile);
}

function everySecond(flat: readonly string[]): string[] {
  return flat.filter((_, i) => i % 2 === 0);
}

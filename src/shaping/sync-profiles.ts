import type { Redis } from 'ioredis';
import { bucketKey, decodeTenant, type EncodedTenant, scheduleKeys, shardTag } from '../redis/keys.js';
import { runScripts } from '../redis/script.js';
import { PROFILE_BYTES, profileBytes } from './profile-bytes.js';
import { scripts } from './scripts.js';
import { type Settings, typeSettings } from './settings.js';

const PAGE = 200;

/**
 * Re-times every bucket with something waiting whose stored profile is not the one that holds now: after a start with a
 * changed configuration, what already waits follows it at once. Quiet buckets follow when they are next touched.
 *
 * @returns how many buckets changed.
 */
export async function syncProfiles(redis: Redis, settings: Settings, type: string): Promise<number> {
  const { due, ready, running } = scheduleKeys(shardTag(type));
  let changed = 0;
  for (const key of [due, ready]) {
    for await (const page of redis.zscanStream(key, { count: PAGE })) {
      changed += await syncPage(redis, settings, type, everySecond(page));
    }
  }
  const held = new Set((await redis.hvals(running)).map((entry) => entry.split(' ')[0] ?? ''));
  return changed + (await syncPage(redis, settings, type, [...held]));
}

async function syncPage(redis: Redis, settings: Settings, type: string, tenants: readonly string[]): Promise<number> {
  if (tenants.length === 0) return 0;
  const tag = shardTag(type);
  const { slackUs } = typeSettings(settings, type);
  const pipeline = redis.pipeline();
  for (const tenant of tenants) pipeline.getrangeBuffer(bucketKey(tag, tenant as EncodedTenant), 0, PROFILE_BYTES - 1);
  const stored = (await pipeline.exec()) ?? [];
  const calls = tenants.flatMap((tenant, i) => {
    const profile = profileBytes(settings.profile(type, decodeTenant(tenant)), slackUs);
    return isEqual(profile, stored[i]?.[1]) ? [] : [{ script: scripts.retime, tag, argv: ['', tenant, profile] }];
  });
  const replies = await runScripts(redis, calls);
  return replies.filter((reply) => 'reply' in reply && reply.reply).length;
}

function isEqual(profile: Buffer, stored: unknown): boolean {
  return Buffer.isBuffer(stored) && stored.equals(profile);
}

function everySecond(flat: readonly string[]): string[] {
  return flat.filter((_, i) => i % 2 === 0);
}

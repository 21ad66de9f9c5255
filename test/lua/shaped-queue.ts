import { Queue } from 'bullmq';
import { DEFAULT_CAPACITY, DEFAULT_PROFILE, type Profile } from '../../src/model/profile.js';
import { encodeTenant } from '../../src/redis/keys.js';
import { ONE_SHARD } from '../../src/redis/shards.js';
import { RedisShaping } from '../../src/shaping/redis-shaping.js';
import type { Settings } from '../../src/shaping/settings.js';
import { shapedBackendFactory } from '../../src/shaping/shaped-backend.js';
import { EPOCH_MS, type ScriptShard } from './script-shard.js';

/**
 * BullMQ's own queue on a bucket of `shard`. It goes by the server's clock, so the shard's is set to that; what the shard
 * does afterwards takes place at or after it.
 */
export async function shapedQueue(shard: ScriptShard, tenant: string, profile: Partial<Profile>) {
  await followServer(shard);
  const type = { capacity: DEFAULT_CAPACITY, keepResults: { ageMs: shard.keepAgeMs, count: 1000 }, attempts: 3 };
  const settings: Settings = {
    type: (name) => (name === shard.type ? type : undefined),
    typeNames: () => [shard.type],
    shards: ONE_SHARD,
    profile: () => ({ ...DEFAULT_PROFILE, ...profile }),
  };
  const shaping = new RedisShaping(shard.redis, settings);
  const factory = shapedBackendFactory({ redis: shard.redis, settings, shaping }, shard.type);
  return new Queue(encodeTenant(tenant), { connection: shard.redis, skipMetasUpdate: true }, factory);
}

/** The shard's explicit clock shows what the server's does. */
export async function followServer(shard: ScriptShard): Promise<void> {
  const [seconds, micros] = await shard.redis.time();
  shard.nowUs = Number(seconds) * 1e6 + Number(micros) - EPOCH_MS * 1000;
}

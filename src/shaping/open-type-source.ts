import type { RedisLink } from '../redis/connection.js';
import { shardTag } from '../redis/keys.js';
import { isCluster } from '../redis/masters.js';
import { PermitDesk } from './permit-desk.js';
import { type Settings, typeSettings } from './settings.js';
import { TypeSource } from './type-source.js';
import { WorkSource } from './work-source.js';

/** A type over all its shards. */
export function openTypeSource(
  redis: RedisLink,
  type: string,
  settings: Settings,
  options: { readonly worker: string; readonly lockMs: number },
): TypeSource {
  const { count } = settings.shards;
  const own = typeSettings(settings, type);
  const shards = Array.from(
    { length: count },
    (_, index) => new WorkSource(redis, type, own, { ...options, shard: { index, count } }),
  );
  return new TypeSource(shards, new PermitDesk(redis, shardTag(type), own, shards), isCluster(redis));
}

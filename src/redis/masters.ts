import type { Redis } from 'ioredis';
import type { RedisLink } from './connection.js';

/** The servers that hold data: the masters of a cluster as far as they are known now, else the one server. */
export function mastersOf(redis: RedisLink): readonly Redis[] {
  return 'nodes' in redis ? redis.nodes('master') : [redis];
}

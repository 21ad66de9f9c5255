import { orUnavailable, type RedisLink } from '../redis/connection.js';
import { encodeTenant, queuePrefix, shardTag } from '../redis/keys.js';
import { parseJobId } from './job-id.js';

/**
 * The payload of one of a tenant's jobs, as JSON text; `undefined` when there is no such job. Throws RedisUnavailable when Redis
 * did not answer.
 */
export async function jobPayload(redis: RedisLink, tenant: string, id: string): Promise<string | undefined> {
  const home = parseJobId(id);
  if (home === undefined) return undefined;
  const key = `${queuePrefix(shardTag(home.type))}:${encodeTenant(tenant)}:${id}`;
  return (await orUnavailable(() => redis.hget(key, 'data'))) ?? undefined;
}

import { orUnavailable, type RedisLink } from '../redis/connection.js';
import { encodeTenant, queuePrefix } from '../redis/keys.js';
import type { Shards } from '../redis/shards.js';
import { jobHome } from './job-home.js';

/**
 * The payload of one of a tenant's jobs, as JSON text; `undefined` when there is no such job. Throws RedisUnavailable when Redis
 * did not answer.
 */
export async function jobPayload(
  redis: RedisLink,
  shards: Shards,
  tenant: string,
  id: string,
): Promise<string | undefined> {
  const home = jobHome(shards, tenant, id);
  if (home === undefined) return undefined;
  const key = `${queuePrefix(home.tag)}:${encodeTenant(tenant)}:${id}`;
  return (await orUnavailable(() => redis.hget(key, 'data'))) ?? undefined;
}

import { orUnavailable, type RedisLink } from '../redis/connection.js';
import { encodeTenant, queuePrefix, type ShardTag } from '../redis/keys.js';

/**
 * For how long the jobs of a bucket that completed last had waited until they started, in milliseconds; at most `limit`. A
 * delay that was asked for is no wait. Throws RedisUnavailable when Redis did not answer.
 */
export async function recentWaits(redis: RedisLink, tag: ShardTag, tenant: string, limit: number): Promise<number[]> {
  const prefix = `${queuePrefix(tag)}:${encodeTenant(tenant)}:`;
  const fields = await orUnavailable(async () => {
    const ids = await redis.zrevrange(`${prefix}completed`, 0, limit - 1);
    const batch = redis.pipeline();
    for (const id of ids) batch.hmget(`${prefix}${id}`, 'timestamp', 'delay', 'processedOn');
    return (await batch.exec()) ?? [];
  });
  return fields.flatMap(([error, found]) => {
    if (error || !Array.isArray(found)) return [];
    const [admitted, delay, started] = found.map((text) => (text === null ? Number.NaN : Number(text)));
    const waitMs = (started ?? Number.NaN) - (admitted ?? Number.NaN) - (delay || 0);
    return Number.isNaN(waitMs) ? [] : [Math.max(0, waitMs)];
  });
}

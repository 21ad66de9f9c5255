import type { Redis } from 'ioredis';

/**
 * Bytes that the data of Redis takes, without the streams of events: these have a bound of their own, however many tenants
 * and jobs there are.
 */
export async function usedMemory(redis: Redis): Promise<number> {
  const used = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1] ?? Number.NaN);
  return used - (await streamsOfEvents(redis));
}

/** Bytes of the streams of events; of a type they are bounded at about 10,000 entries. */
export async function streamsOfEvents(redis: Redis): Promise<number> {
  const keys = await redis.keys('*}:events');
  const sizes = await Promise.all(keys.map((key) => redis.call('MEMORY', 'USAGE', key, 'SAMPLES', '0')));
  return sizes.reduce<number>((sum, size) => sum + Number(size), 0);
}

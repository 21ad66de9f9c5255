import type { RedisLink } from '../redis/connection.js';
import { decodeTenant, type ShardTag, scheduleKeys } from '../redis/keys.js';

/** What a cursor of buckets looks like: where it is being looked, and how far. */
export const BUCKET_CURSOR = '^[rdn](?:0|[1-9][0-9]{0,19})$';

const PLACES = ['r', 'd', 'n'] as const;
type Place = (typeof PLACES)[number];

export interface TenantPage {
  readonly tenants: readonly string[];
  /** `running`: those that have something running, among which are some that were on another page. */
  readonly only: 'waiting' | 'running';
  readonly cursor: string | undefined;
}

/**
 * Tenants of one type that have something ready, then due or delayed, then running: about `limit` of them. A walk over all pages
 * meets everybody who stays where he is, and costs each page no more than its own size, however many there are.
 */
export async function tenantsAt(
  redis: RedisLink,
  tag: ShardTag,
  cursor: string | undefined,
  limit: number,
): Promise<TenantPage> {
  const place = PLACES.find((each) => each === (cursor ?? 'r')[0]);
  if (place === undefined) return { tenants: [], only: 'waiting', cursor: undefined };
  const [next, encoded] = await look(redis, tag, place, cursor?.slice(1) ?? '0', limit);
  return {
    tenants: [...new Set(encoded)].map(decodeTenant),
    only: place === 'n' ? 'running' : 'waiting',
    cursor: next === '0' ? nextPlace(place) : `${place}${next}`,
  };
}

async function look(
  redis: RedisLink,
  tag: ShardTag,
  place: Place,
  at: string,
  limit: number,
): Promise<[next: string, encoded: string[]]> {
  const { due, ready, running } = scheduleKeys(tag);
  if (place === 'n') {
    const [next, flat] = await redis.hscan(running, at, 'COUNT', limit);
    return [next, flat.flatMap((entry, i) => (i % 2 === 1 ? [entry.split(' ', 1)[0] ?? ''] : []))];
  }
  const [next, flat] = await redis.zscan(place === 'r' ? ready : due, at, 'COUNT', limit);
  return [next, flat.filter((_, i) => i % 2 === 0)];
}

function nextPlace(place: Place): string | undefined {
  const next = PLACES[PLACES.indexOf(place) + 1];
  return next === undefined ? undefined : `${next}0`;
}

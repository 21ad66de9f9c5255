import type { RedisLink } from '../redis/connection.js';
import { decodeTenant, type ShardTag, scheduleKeys } from '../redis/keys.js';

/** What a cursor of buckets looks like: where it is being looked, how far, and in which shard if it is not the first. */
export const BUCKET_CURSOR = '^[rdn](?:0|[1-9][0-9]{0,19})(?:\\.[1-9][0-9]{0,3})?$';

const SHAPE = new RegExp(BUCKET_CURSOR);
const PLACES = ['r', 'd', 'n'] as const;
type Place = (typeof PLACES)[number];

/** Where a walk is. */
interface Position {
  readonly place: Place;
  readonly shard: number;
  /** Redis' own cursor in there. */
  readonly at: string;
}

export interface TenantPage {
  readonly tenants: readonly string[];
  /** `running`: those that have something running, among which are some that were on another page. */
  readonly only: 'waiting' | 'running';
  readonly cursor: string | undefined;
}

/**
 * Tenants of one type that have something ready, then due or delayed, then running: about `limit` of them. A walk over all pages
 * meets everybody who stays where he is, and costs each page no more than its own size, however many there are.
 *
 * @param tags All shards of the type. Those in which nobody is do not make pages of their own.
 */
export async function tenantsAt(
  redis: RedisLink,
  tags: readonly ShardTag[],
  cursor: string | undefined,
  limit: number,
): Promise<TenantPage> {
  let position = parse(cursor ?? 'r0');
  const place = position?.place;
  while (position !== undefined) {
    const tag = tags[position.shard];
    if (tag === undefined) break;
    const [next, encoded] = await look(redis, tag, position, limit);
    const only = position.place === 'n' ? 'running' : 'waiting';
    position = next === '0' ? follow(position, tags.length) : { ...position, at: next };
    if (encoded.length === 0 && position?.place === place) continue;
    return { tenants: [...new Set(encoded)].map(decodeTenant), only, cursor: position && format(position) };
  }
  return { tenants: [], only: 'waiting', cursor: undefined };
}

async function look(
  redis: RedisLink,
  tag: ShardTag,
  { place, at }: Position,
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

/** All shards at one place, then all of them at the next. */
function follow({ place, shard }: Position, shards: number): Position | undefined {
  if (shard + 1 < shards) return { place, shard: shard + 1, at: '0' };
  const next = PLACES[PLACES.indexOf(place) + 1];
  return next === undefined ? undefined : { place: next, shard: 0, at: '0' };
}

function parse(cursor: string): Position | undefined {
  const place = PLACES.find((each) => each === cursor[0]);
  if (place === undefined || !SHAPE.test(cursor)) return undefined;
  const [at = '0', shard = '0'] = cursor.slice(1).split('.');
  return { place, shard: Number(shard), at };
}

function format({ place, shard, at }: Position): string {
  return `${place}${at}${shard === 0 ? '' : `.${shard}`}`;
}

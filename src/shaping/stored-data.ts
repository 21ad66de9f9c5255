import { DELIVERY_TYPE } from '../config/delivery-type.js';
import { orUnavailable, type RedisLink } from '../redis/connection.js';
import { scriptKeys, shardTag } from '../redis/keys.js';
import type { Settings } from './settings.js';

/** Version of what stands in Redis. Another version is refused at start. */
export const STORED_FORMAT = 4;

/** The data in Redis is not such as this process can go on with: of another version, or spread over other shards. */
export class OtherData extends Error {
  override readonly name = 'OtherData';

  constructor(type: string, kind: 'format' | 'shards', stored: string, shards: number) {
    const data = `the data of type "${type}" in Redis`;
    super(
      kind === 'format'
        ? `${data} has format ${stored}; this version reads format ${STORED_FORMAT}`
        : `${data} is spread over ${stored} ${stored === '1' ? 'shard' : 'shards'}, and the configuration says shards: ${shards}; the number is fixed once there is data`,
    );
  }
}

/** Types that have data, or may get some: those of the file and, where there are any, that of their webhooks. */
export function storedTypes(settings: Settings): readonly string[] {
  const names = settings.typeNames();
  return names.length === 0 ? [] : [...names, DELIVERY_TYPE];
}

/** Throws {@link OtherData} where what is stored of a type is not such as this process can go on with. Writes nothing. */
export async function refuseOtherData(redis: RedisLink, types: readonly string[], shards: number): Promise<void> {
  for (const type of types) {
    const [key] = scriptKeys(shardTag(type));
    const [format, spread] = await orUnavailable(() => redis.hmget(key, 'format', 'shards'));
    if (typeof format !== 'string') continue;
    if (format !== String(STORED_FORMAT)) throw new OtherData(type, 'format', format, shards);
    // Before shards there was one.
    const stored = spread ?? '1';
    if (stored !== String(shards)) throw new OtherData(type, 'shards', stored, shards);
  }
}

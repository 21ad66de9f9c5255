import { DELIVERY_TYPE } from '../config/delivery-type.js';
import { orUnavailable, type RedisLink } from '../redis/connection.js';
import { type ShardTag, scriptKeys, shardTag } from '../redis/keys.js';
import type { Settings } from './settings.js';

/** Version of what stands in Redis. Another version is refused at start. */
export const STORED_FORMAT = 4;

/** The oldest version that `headgate migrate` brings forward to {@link STORED_FORMAT}. */
export const OLDEST_FORMAT = 3;

/** What an API of version 3 leaves of a type that no worker ever served: state of so many bytes, and no version. */
const UNNAMED = { format: '3', stateBytes: 120 };

/** The data in Redis is not such as this process can go on with: of another version, or spread over other shards. */
export class OtherData extends Error {
  override readonly name = 'OtherData';
  /** Whether it can be brought forward. */
  readonly isOlder: boolean;

  constructor(type: string, kind: 'format' | 'shards', stored: string, shards: number) {
    const data = `the data of type "${type}" in Redis`;
    const isOlder = kind === 'format' && comesForward(stored);
    super(
      kind === 'shards'
        ? `${data} is spread over ${stored} ${stored === '1' ? 'shard' : 'shards'}, and the configuration says shards: ${shards}; the number is fixed once there is data`
        : `${data} has format ${stored}; this version reads format ${STORED_FORMAT}${isOlder ? ': end all older processes, then run `headgate migrate`' : ''}`,
    );
    this.isOlder = isOlder;
  }
}

/** `3`, or `3>4` while data is being brought forward. */
export function comesForward(format: string): boolean {
  const [, from = 0] = /^(\d+)(?:>\d+)?$/.exec(format) ?? [];
  return OLDEST_FORMAT <= Number(from) && Number(from) < STORED_FORMAT;
}

/** Types that have data, or may get some: those of the file and, where there are any, that of their webhooks. */
export function storedTypes(settings: Settings): readonly string[] {
  const names = settings.typeNames();
  return names.length === 0 ? [] : [...names, DELIVERY_TYPE];
}

/** Throws {@link OtherData} where what is stored of a type is not such as this process can go on with. Writes nothing. */
export async function refuseOtherData(redis: RedisLink, types: readonly string[], shards: number): Promise<void> {
  for (const type of types) {
    const { format, spread } = await storedForm(redis, shardTag(type));
    if (format === undefined) continue;
    if (format !== String(STORED_FORMAT)) throw new OtherData(type, 'format', format, shards);
    if (spread !== String(shards)) throw new OtherData(type, 'shards', spread, shards);
  }
}

/** The version of a shard's data, `undefined` where there is none, and over how many shards its type is spread. */
export async function storedForm(redis: RedisLink, tag: ShardTag): Promise<{ format?: string; spread: string }> {
  const [key] = scriptKeys(tag);
  // Before shards there was one.
  const [format, spread = '1'] = (await orUnavailable(() => redis.hmget(key, 'format', 'shards'))).map(
    (value) => value ?? undefined,
  );
  if (format !== undefined) return { format, spread };
  const state = await orUnavailable(() => redis.hgetBuffer(key, 's'));
  return state?.length === UNNAMED.stateBytes ? { format: UNNAMED.format, spread } : { spread };
}

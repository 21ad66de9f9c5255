import { orUnavailable, type RedisLink } from '../../redis/connection.js';
import { type EncodedTenant, readKey, type ShardKey, type ShardTag, shardTag } from '../../redis/keys.js';
import { mastersOf } from '../../redis/masters.js';
import { storedForm } from '../stored-data.js';

/** A shard of a type of which something is stored. */
export interface StoredShard {
  readonly type: string;
  readonly shard: number;
  readonly tag: ShardTag;
  /** Version of the stored form, or `3>4` while it is being brought forward. */
  readonly format: string;
}

/** Keys that one SCAN looks at: 0.9 ms in which Redis does nothing else. */
const LOOKED_AT = 1000;

/** All shards of all types of which something is stored, of types that are in no configuration too; by type and number. */
export async function storedShards(redis: RedisLink): Promise<readonly StoredShard[]> {
  const found = new Map<ShardTag, Omit<StoredShard, 'format'>>();
  for await (const keys of scanKeys(redis, 'type')) {
    for (const { type, shard } of keys) found.set(shardTag(type, shard), { type, shard, tag: shardTag(type, shard) });
  }
  const shards: StoredShard[] = [];
  for (const each of found.values()) {
    const { format } = await storedForm(redis, each.tag);
    if (format !== undefined) shards.push({ ...each, format });
  }
  return shards.toSorted((a, b) => (a.type === b.type ? a.shard - b.shard : a.type < b.type ? -1 : 1));
}

/** The tenants of which a bucket is stored, in pages and by shard; one may come more than once. */
export async function* storedBuckets(
  redis: RedisLink,
): AsyncGenerator<ReadonlyMap<ShardTag, readonly EncodedTenant[]>> {
  for await (const keys of scanKeys(redis, 'bucket:*')) {
    const page = new Map<ShardTag, EncodedTenant[]>();
    for (const { type, shard, rest } of keys) {
      const tag = shardTag(type, shard);
      const tenants = page.get(tag) ?? [];
      tenants.push(rest.slice('bucket:'.length) as EncodedTenant);
      page.set(tag, tenants);
    }
    yield page;
  }
}

async function* scanKeys(redis: RedisLink, rest: string): AsyncGenerator<readonly ShardKey[]> {
  const prefix = redis.options.keyPrefix ?? '';
  const pattern = `${prefix.replace(/[[\]*?\\]/g, '\\$&')}{hg:*}:${rest}`;
  for (const master of mastersOf(redis)) {
    let cursor = '0';
    do {
      const [next, keys] = await orUnavailable(() => master.scan(cursor, 'MATCH', pattern, 'COUNT', LOOKED_AT));
      cursor = next;
      if (keys.length > 0) yield keys.flatMap((key) => readKey(key.slice(prefix.length)) ?? []);
    } while (cursor !== '0');
  }
}

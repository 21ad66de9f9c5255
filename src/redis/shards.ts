import { hash } from 'node:crypto';
import { type ShardTag, shardTag } from './keys.js';

/**
 * The shard of a tenant: the first four bytes of the SHA-256 of its id in UTF-8, as a number whose first byte is the
 * greatest, modulo the number of shards. It is the same in every version, process and language: what is stored rests on it.
 */
export function shardOf(tenant: string, shards: number): number {
  return shards === 1 ? 0 : Number.parseInt(hash('sha256', tenant, 'hex').slice(0, 8), 16) % shards;
}

/** Over how many shards the buckets of each type are spread: says where a tenant's bucket stands, and where all of a type's. */
export class Shards {
  readonly count: number;

  /** @param count 1 to 1024. */
  constructor(count: number) {
    this.count = count;
  }

  /** From 0, exclusive of {@link count}. */
  of(tenant: string): number {
    return shardOf(tenant, this.count);
  }

  /** Where the bucket of a tenant stands. */
  tagOf(type: string, tenant: string): ShardTag {
    return shardTag(type, this.of(tenant));
  }

  /** All shards of a type, in their order. */
  tags(type: string): ShardTag[] {
    return Array.from({ length: this.count }, (_, shard) => shardTag(type, shard));
  }

  /** Tenants by the shard in which they stand, without the shards in which none of them does. */
  group(tenants: readonly string[]): ReadonlyMap<number, readonly string[]> {
    const groups = new Map<number, string[]>();
    for (const tenant of tenants) {
      const shard = this.of(tenant);
      const group = groups.get(shard);
      if (group) group.push(tenant);
      else groups.set(shard, [tenant]);
    }
    return groups;
  }
}

/** Where nothing is spread. */
export const ONE_SHARD = new Shards(1);

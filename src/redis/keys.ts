/**
 * The one place that makes keys. Everything of one (type, shard) shares a hash tag, so that on a cluster it lives in one
 * slot; a tenant's id never stands inside the tag. The scripts derive the rest of the keys from the type's key.
 */

/** All keys of one (type, shard) begin with this. */
export type ShardTag = string & { readonly __brand: 'ShardTag' };

/** A tenant's id, percent-encoded: distinct ids stay distinct, and `:`, `{` and blanks cannot occur. */
export type EncodedTenant = string & { readonly __brand: 'EncodedTenant' };

/** The tag of a type's shard; a standalone Redis has the one shard 0. */
export function shardTag(type: string, shard = 0): ShardTag {
  return `{hg:${type}:${shard}}` as ShardTag;
}

/** Percent-encodes a tenant's id (1–128 bytes of well-formed text, checked at the door). */
export function encodeTenant(tenant: string): EncodedTenant {
  return encodeURIComponent(tenant) as EncodedTenant;
}

/** Inverse of {@link encodeTenant}. */
export function decodeTenant(encoded: string): string {
  return decodeURIComponent(encoded);
}

/** KEYS of every script: the type's hash, and a key that never exists (see lua/lib/shard.lua). */
export function scriptKeys(tag: ShardTag): [type: string, never: string] {
  return [`${tag}:type`, `${tag}:never`];
}

/** The sorted sets and hash that hold a shard's schedule. */
export function scheduleKeys(tag: ShardTag): { due: string; ready: string; running: string } {
  return { due: `${tag}:due`, ready: `${tag}:ready`, running: `${tag}:running` };
}

/** Where workers of a shard are told that something is to be done. */
export function wakeChannel(tag: ShardTag): string {
  return `${tag}:wake`;
}

/** BullMQ's `prefix` for the queues of a shard; the queue's name is the encoded tenant. */
export function queuePrefix(tag: ShardTag): string {
  return `${tag}:q`;
}

/** The hash with a bucket's shaping state. */
export function bucketKey(tag: ShardTag, tenant: EncodedTenant): string {
  return `${tag}:bucket:${tenant}`;
}

/** Keys that all queues of a shard share, by BullMQ's name for them. */
export function sharedQueueKeys(tag: ShardTag): Record<'events' | 'id' | 'meta' | 'marker', string> {
  return { events: `${tag}:events`, id: `${tag}:id`, meta: `${tag}:meta`, marker: `${tag}:marker` };
}

import { hash } from 'node:crypto';

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

/** What a key of a shard says: its type, its number, and what stands behind the tag. */
export interface ShardKey {
  readonly type: string;
  readonly shard: number;
  readonly rest: string;
}

/** Reads a key that is made here; `undefined` of one that belongs to no shard. */
export function readKey(key: string): ShardKey | undefined {
  const [, type, shard, rest] = /^\{hg:([^:{}]+):(\d+)\}:(.*)$/s.exec(key) ?? [];
  return type === undefined || rest === undefined ? undefined : { type, shard: Number(shard), rest };
}

/** KEYS of every script: the type's hash, and a key that never exists (see lua/lib/shard.lua). */
export function scriptKeys(tag: ShardTag): [type: string, never: string] {
  return [`${tag}:type`, `${tag}:never`];
}

/** The sorted sets and hash that hold a shard's schedule. */
export function scheduleKeys(tag: ShardTag): { due: string; ready: string; running: string } {
  return { due: `${tag}:due`, ready: `${tag}:ready`, running: `${tag}:running` };
}

/** The permits that are given to start jobs of a type in any of its shards, in the first of them. */
export function permitsKey(tag: ShardTag): string {
  return `${tag}:permits`;
}

/** Where workers of a shard are told that something is to be done. */
export function wakeChannel(tag: ShardTag): string {
  return `${tag}:wake`;
}

/** The stream of ends that somebody is to be told of. */
export function outboxKey(tag: ShardTag): string {
  return `${tag}:outbox`;
}

/** BullMQ's `prefix` for the queues of a shard; the queue's name is the encoded tenant. */
export function queuePrefix(tag: ShardTag): string {
  return `${tag}:q`;
}

/** The stream with what the latest run of a job has emitted so far. */
export function outputKey(tag: ShardTag, tenant: EncodedTenant, jobId: string): string {
  return `${queuePrefix(tag)}:${tenant}:${jobId}:output`;
}

/** The hash with a bucket's shaping state. */
export function bucketKey(tag: ShardTag, tenant: EncodedTenant): string {
  return `${tag}:bucket:${tenant}`;
}

/** What an idempotency key, by its digest, stands for: the digest of the request and the id of the job. */
export function idempotencyKey(tag: ShardTag, tenant: EncodedTenant, keyDigest: string): string {
  return `${tag}:idem:${tenant}:${keyDigest}`;
}

/** Keys that all queues of a shard share, by BullMQ's name for them. */
export function sharedQueueKeys(tag: ShardTag): Record<'events' | 'id' | 'meta' | 'marker', string> {
  return { events: `${tag}:events`, id: `${tag}:id`, meta: `${tag}:meta`, marker: `${tag}:marker` };
}

const DIGEST_LENGTH = 22;

/** A subject of a limit, whose state stands in a key of its own. */
export interface LimitSubject {
  readonly subject: string;
  readonly limit: { readonly per: 'key' | 'policy' };
}

/**
 * KEYS of the limits of one call. A key depends on its subject alone and is as short as another: it carries the first 132
 * bits of the subject's SHA-256, so nothing that a stranger calls himself has a meaning in it.
 *
 * @param isCluster All keys of a call must then share a slot: the slot of its first limit over the whole policy, or else of
 *   its first. A limit that stands alone keeps its key, and single limits are spread over all slots.
 */
export function limitKeys(limits: readonly LimitSubject[], isCluster: boolean): string[] {
  const digests = limits.map(digestOf);
  if (!isCluster) return digests.map((digest) => `hg:l:${digest}`);
  const shared = limits.findIndex(({ limit }) => limit.per === 'policy');
  const slot = digests[Math.max(0, shared)] ?? '';
  return digests.map((digest) => (digest === slot ? `hg:l:{${slot}}` : `hg:l:{${slot}}${digest}`));
}

/** Of limits that are applied again and again: to digest a subject takes as long as to write down the call. */
const digested = new WeakMap<LimitSubject, string>();

function digestOf(limit: LimitSubject): string {
  let digest = digested.get(limit);
  if (digest === undefined) {
    digest = hash('sha256', limit.subject, 'base64url').slice(0, DIGEST_LENGTH);
    digested.set(limit, digest);
  }
  return digest;
}

/**
 * What administrators changed at run time, each tenant, tier and type in a hash of its own. All of it shares a slot: one
 * script changes it and counts the changes. It never expires.
 */
const OVERRIDES = 'hg:{overrides}';

/** KEYS of a change: the count of changes, the names of all subjects that have overrides, and the subject's own hash. */
export function overrideKeys(subject: string): [revision: string, subjects: string, subject: string] {
  return [`${OVERRIDES}:revision`, `${OVERRIDES}:subjects`, `${OVERRIDES}:of:${subject}`];
}

/** Where every process is told of a change. */
export const OVERRIDES_CHANNEL = `${OVERRIDES}:changed`;

/** What is known of API keys that were made at run time, all in one slot. A key stands there by its hash alone. */
const API_KEYS = 'hg:{keys}';

/** KEYS of every script about API keys: the set of tenants that have any. */
export const API_KEY_TENANTS = `${API_KEYS}:tenants`;

/** Where every process is told that a key was made or revoked. */
export const API_KEYS_CHANNEL = `${API_KEYS}:changed`;

/** What is known of one key. */
export function apiKeyKey(keyHash: string): string {
  return `${API_KEYS}:key:${keyHash}`;
}

/** The keys of a tenant: hashes by id. */
export function tenantKeysKey(tenant: EncodedTenant): string {
  return `${API_KEYS}:of:${tenant}`;
}

/** Who is signed in by the key of this hash: hashes of secrets, each until when. It expires with the last of them. */
export function sessionsKey(keyHash: string): string {
  return `hg:session:${keyHash}`;
}

/** The set of types that any process ever knew, until nothing is left of one that none knows any more. */
export const KNOWN_TYPES = 'hg:{types}';

import type { ShardTag } from '../redis/keys.js';
import type { Shards } from '../redis/shards.js';
import { parseJobId } from './job-id.js';

/**
 * Where a job of a tenant lives, by its id; `undefined` when it can be no job of his: the id is none, or of a shard in
 * which none of his stands.
 */
export function jobHome(
  shards: Shards,
  tenant: string,
  id: string,
): { readonly type: string; readonly tag: ShardTag } | undefined {
  const home = parseJobId(id);
  if (home === undefined || home.shard !== shards.of(tenant)) return undefined;
  return { type: home.type, tag: shards.tagOf(home.type, tenant) };
}

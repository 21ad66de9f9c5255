import { monotonicFactory } from 'ulid';

const SHAPE = /^[0-9a-hjkmnp-tv-z]{26}\.([a-z][a-z0-9_-]{0,39})\.(\d{1,5})$/;
const nextUlid = monotonicFactory();

/**
 * A new job id: `<ULID>.<type>.<shard>`. Unique everywhere, ordered by time as text, and it says where the job lives.
 * It is made before Redis is asked, so that a caller whose request ended in doubt has an id to ask for.
 */
export function newJobId(type: string, shard = 0): string {
  return `${nextUlid().toLowerCase()}.${type}.${shard}`;
}

/** Where a job lives; `undefined` when `id` is not a job id at all. */
export function parseJobId(id: string): { readonly type: string; readonly shard: number } | undefined {
  const [, type, shard] = SHAPE.exec(id) ?? [];
  return type === undefined ? undefined : { type, shard: Number(shard) };
}

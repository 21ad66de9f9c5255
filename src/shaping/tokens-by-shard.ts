import type { Held } from './work-source.js';

/** The tokens of runs, by the shard in which each of them is. */
export function tokensByShard(runs: readonly Held[], shardOf: (held: Held) => number): Map<number, string[]> {
  const tokens = new Map<number, string[]>();
  for (const held of runs) {
    const shard = shardOf(held);
    const own = tokens.get(shard);
    if (own) own.push(held.token);
    else tokens.set(shard, [held.token]);
  }
  return tokens;
}

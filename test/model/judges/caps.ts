import type { Moment } from '../simulation.js';

/** G7: the most by which what runs exceeds a bucket's cap, or the type's, at any moment; at most 0 when it never does. */
export function excessOverCaps(
  moments: readonly Moment[],
  caps: Readonly<Record<string, number>>,
  typeCap: number,
): number {
  const excesses = moments.map(({ running }) => {
    const all = [...running.values()].reduce((sum, n) => sum + n, 0);
    return Math.max(all - typeCap, ...[...running].map(([tenant, n]) => n - (caps[tenant] ?? Infinity)));
  });
  return Math.max(-Infinity, ...excesses);
}

import { median } from './statistics.js';

/** A table, its first row the heads. */
export function table(...rows: readonly (readonly string[])[]): string {
  const [heads = [], ...rest] = rows;
  return [heads, heads.map(() => '---'), ...rest].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The median of what `read` finds in each item. */
export function middle<Item>(items: readonly Item[], read: (item: Item) => number): number {
  return median(items.map(read));
}

/** The median of the ratios of two measurements that were taken in the same run. */
export function ratio<Item>(some: readonly Item[], others: readonly Item[], read: (item: Item) => number): number {
  return median(some.map((item, i) => read(item) / read(others[i] ?? item)));
}

/** A number with three digits that say something, and thousands apart. */
export function shown(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

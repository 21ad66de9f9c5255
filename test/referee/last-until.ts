/**
 * The index of the last of `items`, which stand in the order of their instants, that is not after `at`; −1 when all are.
 */
export function lastUntil<Item>(items: readonly Item[], instantOf: (item: Item) => number, at: number): number {
  let low = -1;
  let high = items.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const item = items[middle];
    if (item !== undefined && instantOf(item) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

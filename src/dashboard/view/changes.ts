import type { BucketRow } from './bucket-row.js';

/** An instant that was read twice differs by as much as the two clocks and the way between them do, in milliseconds. */
const SAME_WITHIN_MS = 500;

/** Remembers what a page was told, and tells what is new since. */
export class SentRows {
  #order: readonly string[] = [];
  #rows = new Map<string, BucketRow>();
  #total = -1;

  /** The rows that the page does not have as they are, and the order where it changed; `undefined` when nothing is new. */
  since(
    total: number,
    rows: readonly BucketRow[],
  ): { readonly total: number; readonly order?: readonly string[]; readonly rows: readonly BucketRow[] } | undefined {
    const order = rows.map(({ tenant }) => tenant);
    const changed = rows.filter((row) => !isSameRow(this.#rows.get(row.tenant), row));
    const isReordered = order.length !== this.#order.length || order.some((tenant, i) => tenant !== this.#order[i]);
    if (changed.length === 0 && !isReordered && total === this.#total) return undefined;
    const news = new Map(changed.map((row) => [row.tenant, row]));
    // What left the window is forgotten: the page may have, too.
    this.#rows = new Map(rows.map((row) => [row.tenant, news.get(row.tenant) ?? this.#rows.get(row.tenant) ?? row]));
    this.#order = order;
    this.#total = total;
    return { total, ...(isReordered && { order }), rows: changed };
  }
}

/** Values under names, of which a page is told only those that changed. */
export class SentValues<Value> {
  readonly #sent = new Map<string, string>();

  since(values: ReadonlyMap<string, Value>): readonly Value[] {
    return [...values].flatMap(([name, value]) => {
      const text = JSON.stringify(value);
      if (this.#sent.get(name) === text) return [];
      this.#sent.set(name, text);
      return [value];
    });
  }
}

/** Whether a page that has one need not be told the other. */
export function isSameRow(one: BucketRow | undefined, other: BucketRow): boolean {
  if (one === undefined) return false;
  return isSameInstant(one.nextStartAt, other.nextStartAt) && textOf(one) === textOf(other);
}

function isSameInstant(one: string | null, other: string | null): boolean {
  if (one === null || other === null) return one === other;
  return Math.abs(Date.parse(one) - Date.parse(other)) < SAME_WITHIN_MS;
}

function textOf(row: BucketRow): string {
  return JSON.stringify({ ...row, nextStartAt: null });
}

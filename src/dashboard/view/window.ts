import type { BucketRow } from './bucket-row.js';
import { TROUBLES } from './trouble.js';

export const SORTS = ['trouble', 'tenant', 'level', 'waiting'] as const;
export type Sort = (typeof SORTS)[number];

/** Which buckets of a type a page shows. */
export interface Window {
  /** Part of a tenant's id, in any case; '' for all. */
  readonly search: string;
  readonly sort: Sort;
  readonly from: number;
  readonly count: number;
}

/** The rows that a window shows, and how many there are before it is cut. */
export function windowOf(
  rows: readonly BucketRow[],
  { search, sort, from, count }: Window,
): {
  readonly total: number;
  readonly rows: readonly BucketRow[];
} {
  const asked = search.toLocaleLowerCase('en');
  const found = asked === '' ? [...rows] : rows.filter(({ tenant }) => tenant.toLocaleLowerCase('en').includes(asked));
  found.sort(sort === 'trouble' ? byTrouble(found) : ORDERS[sort]);
  return { total: found.length, rows: found.slice(from, from + count) };
}

type Order = (one: BucketRow, other: BucketRow) => number;

const byTenant: Order = (one, other) => (one.tenant < other.tenant ? -1 : one.tenant > other.tenant ? 1 : 0);
const byWaiting: Order = (one, other) => other.waiting - one.waiting || byTenant(one, other);

const ORDERS: Readonly<Record<Exclude<Sort, 'trouble'>, Order>> = {
  tenant: byTenant,
  waiting: byWaiting,
  level: (one, other) => other.level - one.level || byTenant(one, other),
};

/** The gravest trouble first, more of them before fewer, then by what waits. Thousands are compared every second. */
function byTrouble(rows: readonly BucketRow[]): Order {
  const gravities = new Map(rows.map((row) => [row, gravity(row)]));
  const of = (row: BucketRow) => gravities.get(row) ?? 0;
  return (one, other) => of(other) - of(one) || byWaiting(one, other);
}

/** Each trouble weighs more than all lesser ones together. */
function gravity({ trouble }: BucketRow): number {
  return trouble.reduce((sum, each) => sum + 2 ** (TROUBLES.length - TROUBLES.indexOf(each)), 0);
}

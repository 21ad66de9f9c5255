import { type BucketRow, rounded } from './bucket-row.js';
import { TROUBLES, type Trouble } from './trouble.js';

/** What stands out among the buckets of a type. */
export interface Summary {
  readonly type: string;
  readonly counts: Readonly<Record<Trouble, number>>;
  /** Some of each, those first in which most waits. */
  readonly names: Readonly<Record<Trouble, readonly string[]>>;
  /** The bucket that starts something next; in the past where it waits for a slot. */
  readonly nextStart: { readonly tenant: string; readonly at: string } | null;
  /** Where what was received is farthest from what was deserved. */
  readonly shares: readonly { readonly tenant: string; readonly received: number; readonly deserved: number }[];
}

const NAMES = 3;
const SHARES = 8;
/** What should have started by then and was not found late was read too long ago, in milliseconds. */
const STALE_MS = 2000;

/** Of all rows of a type at `atMs` (since 1970). */
export function summaryOf(type: string, rows: readonly BucketRow[], atMs: number): Summary {
  const troubled = rows.filter(({ trouble }) => trouble.length > 0).sort((one, other) => other.waiting - one.waiting);
  const inTrouble = TROUBLES.map(
    (trouble) => [trouble, troubled.filter((row) => row.trouble.includes(trouble))] as const,
  );
  return {
    type,
    counts: byTrouble(inTrouble.map(([trouble, found]) => [trouble, found.length])),
    names: byTrouble(inTrouble.map(([trouble, found]) => [trouble, found.slice(0, NAMES).map(({ tenant }) => tenant)])),
    nextStart: nextStartOf(rows, atMs),
    shares: sharesOf(rows),
  };
}

function byTrouble<Value>(entries: readonly (readonly [Trouble, Value])[]): Record<Trouble, Value> {
  const values = new Map(entries);
  const of = (trouble: Trouble): Value => {
    const value = values.get(trouble);
    if (value === undefined) throw new Error(`nothing was said of ${trouble}`);
    return value;
  };
  return {
    ...{ starved: of('starved'), full: of('full'), refusing: of('refusing') },
    ...{ noisy: of('noisy'), held: of('held'), paused: of('paused') },
  };
}

function nextStartOf(rows: readonly BucketRow[], atMs: number): Summary['nextStart'] {
  let next: { readonly tenant: string; readonly at: string } | null = null;
  for (const { tenant, nextStartAt: at, waiting, delayed } of rows) {
    if (at === null || waiting + delayed === 0) continue;
    if (waiting === 0 && Date.parse(at) < atMs - STALE_MS) continue;
    if (next === null || at < next.at) next = { tenant, at };
  }
  return next;
}

function sharesOf(rows: readonly BucketRow[]): Summary['shares'] {
  const shares = rows.flatMap(({ tenant, received, deserved }) =>
    received === null || deserved === null || received + deserved === 0 ? [] : [{ tenant, received, deserved }],
  );
  const gap = ({ received, deserved }: (typeof shares)[number]) => Math.abs(received - deserved);
  shares.sort((one, other) => gap(other) - gap(one));
  return shares.slice(0, SHARES).map(({ tenant, received, deserved }) => ({
    tenant,
    received: rounded(received, 3),
    deserved: rounded(deserved, 3),
  }));
}

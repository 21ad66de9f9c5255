import type { BucketName, Reader, Wanted } from './reader.js';
import { type BucketRow, ownRow } from './view/bucket-row.js';
import type { Point } from './view/history.js';
import type { Percentiles } from './view/percentiles.js';
import { type Summary, summaryOf } from './view/summary.js';
import { ownTypeRow, type TypeRow } from './view/type-row.js';
import { type Window, windowOf } from './view/window.js';

/** What a page looks at. */
export interface View {
  /** `undefined` where there are no types. */
  readonly type: string | undefined;
  readonly window: Window;
  /** A tenant whose bucket of this type is looked at more closely. */
  readonly opened: string | undefined;
}

/** One bucket more closely. */
export interface Opened {
  readonly tenant: string;
  readonly type: string;
  readonly row: BucketRow;
  readonly waitMs: Percentiles | null;
  /** Instant, in and out in units a second, refused in jobs a second. */
  readonly points: readonly Point[];
}

/** What the eyes of one who is signed in may see of the readings. */
export interface Sight {
  wanted(): Wanted;
  types(): readonly TypeRow[];
  /** Over time, of the type that is looked at: instant, in, out, refused, waiting, running. */
  points(): readonly Point[];
  /** Its step that is over by the last reading. */
  point(): Point | undefined;
  window(): { readonly total: number; readonly rows: readonly BucketRow[] };
  summary(): Summary | undefined;
  opened(): Opened | undefined;
}

/** An admin's, who sees everything. */
export class AdminSight implements Sight {
  readonly #reader: Reader;
  readonly #view: View;
  #seen: readonly string[] = [];

  constructor(reader: Reader, view: View) {
    this.#reader = reader;
    this.#view = view;
  }

  wanted(): Wanted {
    const { type, opened: tenant } = this.#view;
    if (type === undefined) return { all: true, buckets: [], opened: [] };
    const opened = tenant === undefined ? [] : [{ type, tenant }];
    const seen = this.#seen.map((each) => ({ type, tenant: each }));
    return { all: true, buckets: [...opened, ...seen], opened };
  }

  types(): readonly TypeRow[] {
    return [...this.#reader.types.values()].flatMap(({ reading }) => reading?.row ?? []);
  }

  points(): readonly Point[] {
    return this.#type?.history.points ?? [];
  }

  point(): Point | undefined {
    return this.#type?.reading?.point;
  }

  window() {
    const window = windowOf(this.#type?.rows ?? [], this.#view.window);
    this.#seen = window.rows.map(({ tenant }) => tenant);
    // Until all were met once, there are more than are known.
    const backlogged = this.#view.window.search === '' ? (this.#type?.reading?.row.backloggedBuckets ?? 0) : 0;
    return { ...window, total: Math.max(window.total, backlogged) };
  }

  summary(): Summary | undefined {
    const { name, reading, rows = [] } = this.#type ?? {};
    return name === undefined || reading === undefined ? undefined : summaryOf(name, rows, reading.atMs);
  }

  opened(): Opened | undefined {
    const { type, opened: tenant } = this.#view;
    return type === undefined || tenant === undefined ? undefined : openedOf(this.#reader, { type, tenant });
  }

  get #type() {
    return this.#view.type === undefined ? undefined : this.#reader.types.get(this.#view.type);
  }
}

/** A tenant's, who sees his own buckets, and nothing that would tell him of anybody else. */
export class TenantSight implements Sight {
  readonly #reader: Reader;
  readonly #view: View;
  readonly #tenant: string;

  constructor(reader: Reader, view: View, tenant: string) {
    this.#reader = reader;
    this.#view = view;
    this.#tenant = tenant;
  }

  wanted(): Wanted {
    const own = [...this.#reader.types.keys()].map((type) => ({ type, tenant: this.#tenant }));
    return { all: false, buckets: own, opened: own };
  }

  types(): readonly TypeRow[] {
    return [...this.#reader.types.values()].flatMap(({ name, reading, buckets }) => {
      const [bucket, row] = [buckets.get(this.#tenant), this.#row(name)];
      const rates = this.#reader.opened({ type: name, tenant: this.#tenant })?.rates ?? { in: 0, out: 0 };
      if (bucket === undefined || row === undefined || reading === undefined) return [];
      return [ownTypeRow(name, { bucket, row, rates, atMs: reading.atMs })];
    });
  }

  points(): readonly Point[] {
    return this.#watched?.history.points ?? [];
  }

  point(): Point | undefined {
    return this.#watched?.point;
  }

  window() {
    return windowOf(this.#rows, this.#view.window);
  }

  summary(): Summary | undefined {
    const { type } = this.#view;
    const atMs = type === undefined ? undefined : this.#reader.types.get(type)?.reading?.atMs;
    return type === undefined || atMs === undefined ? undefined : summaryOf(type, this.#rows, atMs);
  }

  opened(): Opened | undefined {
    const { type, opened } = this.#view;
    if (type === undefined || opened === undefined) return undefined;
    const found = openedOf(this.#reader, { type, tenant: this.#tenant });
    return found && { ...found, row: ownRow(found.row) };
  }

  get #watched() {
    const { type } = this.#view;
    return type === undefined ? undefined : this.#reader.opened({ type, tenant: this.#tenant });
  }

  get #rows(): readonly BucketRow[] {
    const row = this.#view.type === undefined ? undefined : this.#row(this.#view.type);
    return row === undefined ? [] : [row];
  }

  #row(type: string): BucketRow | undefined {
    const row = this.#reader.types.get(type)?.row(this.#tenant);
    return row && ownRow(row);
  }
}

function openedOf(reader: Reader, { type, tenant }: BucketName): Opened | undefined {
  const [row, watch] = [reader.types.get(type)?.row(tenant), reader.opened({ type, tenant })];
  if (row === undefined || watch === undefined) return undefined;
  const points = watch.history.points.map(
    ([atMs, come = 0, out = 0, refused = 0]): Point => [atMs, come, out, refused],
  );
  return { tenant, type, row, waitMs: watch.waits, points };
}

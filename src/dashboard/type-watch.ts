import type { BucketSurvey, SurveyedBucket } from '../shaping/bucket-survey.js';
import type { DoorCounts } from '../shaping/door-counts.js';
import type { TypeView } from '../shaping/shaping.js';
import { KnownBuckets } from './known-buckets.js';
import { type BucketRow, bucketRow } from './view/bucket-row.js';
import { type Crowd, crowdOf } from './view/crowd.js';
import { type DoorFlow, DoorMinute } from './view/door-minute.js';
import { smoothed, unitsServed } from './view/flow.js';
import { History, type Point } from './view/history.js';
import { type TypeRow, typeRow } from './view/type-row.js';

/** Where a type is read from. */
export interface TypeSources {
  readonly survey: Pick<BucketSurvey, 'tenants' | 'buckets'>;
  readonly type: (name: string) => Promise<TypeView>;
  readonly doorCounts: (name: string, slots: number) => Promise<DoorCounts>;
}

/** A type at one reading. */
export interface TypeReading {
  readonly atMs: number;
  readonly row: TypeRow;
  readonly crowd: Crowd;
  /** The step of its history that is over by this reading. */
  readonly point: Point | undefined;
}

/** One type as it is watched: what was read of it, and what follows from the readings before. */
export class TypeWatch {
  readonly name: string;
  readonly history = new History();
  readonly buckets: KnownBuckets;
  readonly #sources: TypeSources;
  #door = new DoorMinute();
  #before: { readonly servedPerSecond: number; readonly atMs: number } | undefined;
  #rates = { in: 0, out: 0 };
  #reading: TypeReading | undefined;
  #rows: readonly BucketRow[] | undefined;

  constructor(name: string, sources: TypeSources) {
    this.name = name;
    this.#sources = sources;
    this.buckets = new KnownBuckets(sources.survey, name);
  }

  /** The last reading. */
  get reading(): TypeReading | undefined {
    return this.#reading;
  }

  /** All known buckets as rows, as they were found last; made when somebody asks. */
  get rows(): readonly BucketRow[] {
    const crowd = this.#reading?.crowd;
    if (crowd === undefined) return [];
    this.#rows ??= this.buckets.all.map((bucket) => this.#row(bucket, crowd));
    return this.#rows;
  }

  /** One bucket as a row; `undefined` when nothing is known of it. */
  row(tenant: string): BucketRow | undefined {
    const bucket = this.buckets.get(tenant);
    if (bucket === undefined || this.#reading === undefined) return undefined;
    return this.#row(bucket, this.#reading.crowd);
  }

  /** Jobs of a tenant that were refused since the reading before. */
  newlyRefusedOf(tenant: string): number {
    return this.#door.newlyRefusedOf(tenant);
  }

  /** Reads it: the buckets that are wanted, and about `budget` others. Throws RedisUnavailable. */
  async read(wanted: ReadonlySet<string>, budget: number): Promise<void> {
    const door = await this.#readDoor();
    const asked = new Set([...wanted, ...(budget > 0 ? this.#door.tenants : [])]);
    const [view] = await Promise.all([this.#sources.type(this.name), this.buckets.read(asked, budget)]);
    const atMs = Date.now();
    const flows = this.#flowsUntil(atMs, door, view);
    this.#rows = undefined;
    const buckets = this.buckets.all;
    const crowd = crowdOf(view, buckets);
    const row = typeRow(view, { rates: this.#rates, buckets, crowd, atMs });
    const point = this.history.add({ atMs, flows, states: [row.waiting, row.running] });
    this.#reading = { atMs, row, crowd, point };
  }

  /** Reads for its history alone what costs the same however many buckets there are. Throws RedisUnavailable. */
  async glance(): Promise<void> {
    const door = await this.#readDoor();
    const view = await this.#sources.type(this.name);
    const atMs = Date.now();
    this.history.add({ atMs, flows: this.#flowsUntil(atMs, door, view), states: [null, view.running] });
  }

  async #readDoor(): Promise<DoorFlow> {
    const elapsedMs = this.#before === undefined ? 0 : Date.now() - this.#before.atMs;
    return this.#door.add(await this.#sources.doorCounts(this.name, this.#door.missingAfter(elapsedMs)));
  }

  /** Units in and out, and jobs refused, since the reading before; the rates go on with them. */
  #flowsUntil(atMs: number, door: DoorFlow, view: TypeView): readonly number[] {
    const { before, rates } = { before: this.#before, rates: this.#rates };
    const elapsedMs = before === undefined ? 0 : atMs - before.atMs;
    const after = { servedPerSecond: view.servedPerSecond, atMs };
    const out = before === undefined ? 0 : unitsServed(before, after);
    this.#rates = {
      in: before === undefined ? this.#door.admittedPerSecond : smoothed(rates.in, door.admitted, elapsedMs),
      out: before === undefined ? view.servedPerSecond : smoothed(rates.out, out, elapsedMs),
    };
    this.#before = after;
    return [door.admitted, out, door.refused];
  }

  /** Forgets what can only be compared with a reading a moment ago. */
  pauseReading(): void {
    this.#before = undefined;
    this.#rates = { in: 0, out: 0 };
    this.#door = new DoorMinute();
  }

  #row(bucket: SurveyedBucket, crowd: Crowd): BucketRow {
    return bucketRow(bucket, crowd, this.#door.refusedOf(bucket.tenant));
  }
}

import { RedisUnavailable } from '../redis/outage.js';
import { BucketWatch, type ReadWaits } from './bucket-watch.js';
import { type TypeSources, TypeWatch } from './type-watch.js';
import { STEP_MS } from './view/history.js';

/** Between the beginnings of two readings, in milliseconds. */
const EVERY_MS = 1000;
/** Buckets that a reading looks at though nobody sees them just now, over all types. */
const WALK = 400;
/** Buckets of a type that are looked at at every reading because somebody sees them. */
const MOST_WANTED = 1000;
/** Buckets over time that are kept in mind. */
const MOST_OPENED = 200;
/** Types whose history goes on while no page is open, the first ones: two commands each in every step. */
const MOST_KEPT = 10;

/** What a page has before its eyes. */
export interface Wanted {
  /** All buckets, a few at a time. */
  readonly all: boolean;
  /** Buckets that are to be as new as can be, and of those the ones to be watched over time. */
  readonly buckets: readonly BucketName[];
  readonly opened: readonly BucketName[];
}

export interface BucketName {
  readonly type: string;
  readonly tenant: string;
}

/** A page that is open. */
export interface Watcher {
  wanted(): Wanted;
  /** There is a new reading, or none because Redis is away. */
  onReading(isUp: boolean): void;
}

export interface ReaderOptions extends TypeSources {
  readonly typeNames: () => readonly string[];
  readonly waits: ReadWaits;
  /** Of an error that nobody foresaw. */
  readonly onError: (error: unknown) => void;
}

/**
 * Reads what all pages of this process show, once for all of them and once a second at most. A reading is bounded: buckets
 * beyond it are read at one of the next. While no page is open it only glances at the types, once in each step of their
 * history and in the middle of it, from {@link start} until {@link stop}; what it remembers of the time before stays.
 */
export class Reader {
  readonly types: ReadonlyMap<string, TypeWatch>;
  readonly #options: ReaderOptions;
  readonly #watchers = new Set<Watcher>();
  readonly #opened = new Map<string, BucketWatch>();
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> | undefined;
  #isUp = true;
  #hasRead = false;
  #isStarted = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.types = new Map(options.typeNames().map((name) => [name, new TypeWatch(name, options)]));
  }

  /** Whether there was a reading. */
  get hasRead(): boolean {
    return this.#hasRead;
  }

  /** Whether Redis answered the last reading. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** A bucket over time; `undefined` until it was read once. */
  opened(bucket: BucketName): BucketWatch | undefined {
    return this.#opened.get(keyOf(bucket));
  }

  /** Reads for a page from now on; returns how to take that back. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    if (this.#watchers.size === 1) this.#readNext();
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.#rest();
    };
  }

  /** Keeps the history of the types from now on. */
  start(): void {
    this.#isStarted = true;
    if (this.#watchers.size === 0) this.#readNext();
  }

  /** Takes {@link start} back. Pages that are open are read for as before. */
  stop(): void {
    this.#isStarted = false;
    if (this.#watchers.size === 0) this.#rest();
  }

  /** Sets when to read next, by what is wanted now; a reading that is under way does so at its end. */
  #readNext(sinceMs = Number.POSITIVE_INFINITY): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#reading !== undefined || (this.#watchers.size === 0 && !this.#isStarted)) return;
    const ms = this.#watchers.size === 0 ? untilMidStep(Date.now()) : this.#hasRead ? EVERY_MS - sinceMs : 0;
    this.#timer = setTimeout(() => this.#read(), Math.max(0, ms));
    // A glance is nothing to stay alive for.
    if (this.#watchers.size === 0) this.#timer.unref();
  }

  #read(): void {
    const startedAt = performance.now();
    const reading = this.#watchers.size === 0 ? this.#glance() : this.#readOnce();
    this.#reading = reading.finally(() => {
      this.#reading = undefined;
      this.#readNext(performance.now() - startedAt);
    });
  }

  #rest(): void {
    this.#hasRead = false;
    this.#pause(this.#isStarted ? this.#kept : []);
    this.#readNext();
  }

  /** What is read next comes after a gap, but of types that go on. */
  #pause(goingOn: readonly TypeWatch[] = []): void {
    for (const each of this.types.values()) if (!goingOn.includes(each)) each.pauseReading();
    for (const each of this.#opened.values()) each.pauseReading();
  }

  get #kept(): readonly TypeWatch[] {
    return [...this.types.values()].slice(0, MOST_KEPT);
  }

  async #glance(): Promise<void> {
    try {
      await Promise.all(this.#kept.map((type) => type.glance()));
    } catch (error) {
      this.#pause();
      if (!(error instanceof RedisUnavailable)) this.#options.onError(error);
    }
  }

  async #readOnce(): Promise<void> {
    const asked = [...this.#watchers].map((watcher) => watcher.wanted());
    const budget = asked.some(({ all }) => all) ? Math.ceil(WALK / Math.max(1, this.types.size)) : 0;
    try {
      await Promise.all([...this.types.values()].map((type) => type.read(wantedOf(type.name, asked), budget)));
      const opened = new Set(asked.flatMap((each) => each.opened.map(keyOf)));
      await Promise.all([...opened].map((key) => this.#readOpened(key)));
      this.#isUp = true;
    } catch (error) {
      this.#isUp = false;
      this.#pause();
      if (!(error instanceof RedisUnavailable)) this.#options.onError(error);
    }
    this.#hasRead = true;
    for (const watcher of [...this.#watchers]) watcher.onReading(this.#isUp);
  }

  async #readOpened(key: string): Promise<void> {
    const { type, tenant } = nameOf(key);
    const watch = this.types.get(type);
    const bucket = watch?.buckets.get(tenant);
    if (watch?.reading === undefined || bucket === undefined) return;
    const opened = this.#opened.get(key) ?? new BucketWatch(this.#options.waits);
    // The one that was opened last stands last.
    this.#opened.delete(key);
    this.#opened.set(key, opened);
    const [oldest] = this.#opened.keys();
    if (this.#opened.size > MOST_OPENED && oldest !== undefined) this.#opened.delete(oldest);
    await opened.add(bucket, watch.newlyRefusedOf(tenant), watch.reading.atMs);
  }
}

/** A reading in the middle of each step: one that is a little late is still in its own. */
function untilMidStep(nowMs: number): number {
  return STEP_MS - ((nowMs + STEP_MS / 2) % STEP_MS);
}

function wantedOf(type: string, asked: readonly Wanted[]): ReadonlySet<string> {
  const tenants = asked.flatMap(({ buckets }) =>
    buckets.filter((each) => each.type === type).map((each) => each.tenant),
  );
  return new Set([...new Set(tenants)].slice(0, MOST_WANTED));
}

/** Names of types have no blanks. */
function keyOf({ type, tenant }: BucketName): string {
  return `${type} ${tenant}`;
}

function nameOf(key: string): BucketName {
  const blank = key.indexOf(' ');
  return { type: key.slice(0, blank), tenant: key.slice(blank + 1) };
}

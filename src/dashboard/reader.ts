import { RedisUnavailable } from '../redis/outage.js';
import { BucketWatch, type ReadWaits } from './bucket-watch.js';
import { type TypeSources, TypeWatch } from './type-watch.js';

/** Between the beginnings of two readings, in milliseconds. */
const EVERY_MS = 1000;
/** Buckets that a reading looks at though nobody sees them just now, over all types. */
const WALK = 400;
/** Buckets of a type that are looked at at every reading because somebody sees them. */
const MOST_WANTED = 1000;
/** Buckets over time that are kept in mind. */
const MOST_OPENED = 200;

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
 * Reads what all pages of this process show, once for all of them and once a second at most. It reads only while a page is
 * open; what it remembers of the time before stays. A reading is bounded: buckets beyond it are read at one of the next.
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
    if (this.#timer === undefined && this.#reading === undefined) this.#readIn(0);
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.#rest();
    };
  }

  #readIn(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const startedAt = performance.now();
      this.#reading = this.#readOnce().finally(() => {
        this.#reading = undefined;
        if (this.#watchers.size > 0) this.#readIn(Math.max(0, EVERY_MS - (performance.now() - startedAt)));
      });
    }, ms);
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#hasRead = false;
    this.#pause();
  }

  /** What is read next comes after a gap. */
  #pause(): void {
    for (const each of [...this.types.values(), ...this.#opened.values()]) each.pauseReading();
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

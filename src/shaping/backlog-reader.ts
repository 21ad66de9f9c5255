import type { BucketView, Shaping, TypeView } from './shaping.js';

/** A type and its buckets with something waiting, delayed or running, as they were found. */
export interface TypeBacklog {
  readonly type: TypeView;
  /** Each tenant once. */
  readonly buckets: readonly BucketView[];
  /** Backlogged buckets that were too many to be looked at. */
  readonly unread: number;
}

const PAGE = 100;
/** Buckets of a type that one reading looks at, at most: some 20 µs of Redis each. */
const MOST_BUCKETS = 1000;
/** For how long a reading is as good as a new one, in milliseconds. */
const FRESH_MS = 2000;

/**
 * What waits and runs now, for whoever looks at all of it every few seconds: a reading is bounded, one at a time is under
 * way however many ask, and serves for a moment.
 */
export class BacklogReader {
  readonly #shaping: Pick<Shaping, 'type' | 'buckets'>;
  readonly #typeNames: () => readonly string[];
  #reading: Promise<readonly TypeBacklog[]> | undefined;
  #staleAt = -Infinity;

  constructor(shaping: Pick<Shaping, 'type' | 'buckets'>, typeNames: () => readonly string[]) {
    this.#shaping = shaping;
    this.#typeNames = typeNames;
  }

  /** All types. Throws {@link ../redis/outage.ts RedisUnavailable} when Redis does not answer; nobody remembers that. */
  read(): Promise<readonly TypeBacklog[]> {
    if (this.#reading !== undefined && performance.now() < this.#staleAt) return this.#reading;
    this.#staleAt = Infinity;
    const reading = Promise.all(this.#typeNames().map((name) => this.#readType(name)));
    this.#reading = reading;
    reading.then(
      () => {
        this.#staleAt = performance.now() + FRESH_MS;
      },
      () => {
        this.#reading = undefined;
      },
    );
    return reading;
  }

  async #readType(name: string): Promise<TypeBacklog> {
    const type = await this.#shaping.type(name);
    const found = new Map<string, BucketView>();
    let cursor: string | undefined;
    do {
      const page = await this.#shaping.buckets(name, cursor, PAGE);
      for (const bucket of page.buckets) found.set(bucket.tenant, bucket);
      cursor = page.cursor;
    } while (cursor !== undefined && found.size < MOST_BUCKETS);
    const buckets = [...found.values()];
    const waiting = buckets.filter((each) => each.waiting + each.delayed > 0).length;
    return { type, buckets, unread: cursor === undefined ? 0 : Math.max(0, type.backloggedBuckets - waiting) };
  }
}

import { type RedisLink, untilReady } from '../redis/connection.js';
import { type ShardTag, sharedQueueKeys } from '../redis/keys.js';
import { isPassing } from '../redis/outage.js';
import type { JobWatcher } from './job-feed.js';
import { isBefore, type StreamEvents } from './stream-events.js';
import { PAGE, type StreamReads } from './stream-reads.js';

/** Between two reads that found something: in a busy system events go together. */
const GATHER_MS = 2;
/** Jobs looked at again at a time, after an outage with thousands of watchers. */
const LOOKS_AT_ONCE = 64;
const RETRY_MS = 50;

/** The events of one shard of a type. */
interface ShardFeed {
  readonly key: string;
  readonly watchers: Map<string, Set<JobWatcher>>;
  /** Everything after it will be heard; `undefined` until that is so, and after an outage. */
  position: string | undefined;
}

export interface EventReaderParts {
  readonly redis: RedisLink;
  readonly reads: StreamReads;
  /** Told of errors other than Redis being away. */
  readonly onError: (error: unknown) => void;
}

/**
 * Reads the event streams of some shards, and tells watchers of jobs. One read is under way, however many jobs and shards
 * are watched; nothing is read while nobody watches.
 *
 * A stream forgets its oldest events. Where some may have been missed (the connection was lost, or the stream was
 * trimmed past what was read), everybody who watches the shard looks again.
 */
export class EventReader {
  readonly #redis: RedisLink;
  readonly #reads: StreamReads;
  readonly #onError: (error: unknown) => void;
  readonly #feeds = new Map<ShardTag, ShardFeed>();
  readonly #closing = new AbortController();
  #reading: Promise<void> | undefined;

  constructor({ redis, reads, onError }: EventReaderParts) {
    this.#redis = redis;
    this.#reads = reads;
    this.#onError = onError;
  }

  /** See {@link JobFeed.watch}; the job is of this shard. */
  watch(tag: ShardTag, id: string, watcher: JobWatcher): () => void {
    const feed = this.#feedOf(tag);
    const watchers = feed.watchers.get(id) ?? new Set();
    feed.watchers.set(id, watchers.add(watcher));
    if (feed.position !== undefined) void watcher(undefined);
    this.#reading ??= this.#read();
    return () => {
      if (!watchers.delete(watcher) || watchers.size > 0) return;
      feed.watchers.delete(id);
      if (feed.watchers.size === 0 && this.#feeds.get(tag) === feed) this.#feeds.delete(tag);
    };
  }

  /** Reads no more; resolves when the read under way has ended, at once where its connection is closed. Nobody is told. */
  async close(): Promise<void> {
    this.#feeds.clear();
    this.#closing.abort();
    await this.#reading;
  }

  #feedOf(tag: ShardTag): ShardFeed {
    const known = this.#feeds.get(tag);
    if (known) return known;
    const feed = { key: sharedQueueKeys(tag).events, watchers: new Map(), position: undefined };
    this.#feeds.set(tag, feed);
    this.#reads.interrupt();
    return feed;
  }

  async #read(): Promise<void> {
    while (this.#feeds.size > 0) {
      try {
        await untilReady(this.#redis, this.#closing.signal);
        await this.#begin();
        const found = await this.#next();
        if (found) await sleep(GATHER_MS);
      } catch (error) {
        this.#lost();
        if (this.#closing.signal.aborted) break;
        if (!isPassing(error)) this.#onError(error);
        await sleep(RETRY_MS);
      }
    }
    this.#reading = undefined;
  }

  /** Shards whose events are not heard yet are heard from here on, and their jobs looked at. */
  async #begin(): Promise<void> {
    for (const feed of this.#feeds.values()) {
      if (feed.position !== undefined) continue;
      const [last] = await this.#redis.xrevrange(feed.key, '+', '-', 'COUNT', 1);
      feed.position = last?.[0] ?? '0-0';
      void lookAgain(feed);
    }
  }

  /** One read of all that is watched. True when something had happened. */
  async #next(): Promise<boolean> {
    const feeds = [...this.#feeds.values()].filter((feed) => feed.position !== undefined);
    if (feeds.length === 0) return false;
    const found = await this.#reads.next(feeds.map(({ key, position }) => ({ key, after: position ?? '$' })));
    for (const stream of found) {
      const feed = feeds.find(({ key }) => key === stream.key);
      if (feed) await this.#tell(feed, stream);
    }
    return found.length > 0;
  }

  async #tell(feed: ShardFeed, { events, last }: StreamEvents): Promise<void> {
    const before = feed.position;
    feed.position = last;
    for (const { jobId, event } of events) {
      for (const watcher of feed.watchers.get(jobId) ?? []) void watcher(event);
    }
    // Only who lags behind by a page can have lost the beginning of what he had not read.
    if (events.length < PAGE || before === undefined) return;
    const [first] = await this.#redis.xrange(feed.key, '-', '+', 'COUNT', 1);
    if (first && isBefore(before, first[0])) void lookAgain(feed);
  }

  #lost(): void {
    for (const feed of this.#feeds.values()) feed.position = undefined;
  }
}

async function lookAgain({ watchers }: ShardFeed): Promise<void> {
  const all = [...watchers.values()].flatMap((some) => [...some]);
  for (let from = 0; from < all.length; from += LOOKS_AT_ONCE) {
    await Promise.all(all.slice(from, from + LOOKS_AT_ONCE).map((watcher) => watcher(undefined)));
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

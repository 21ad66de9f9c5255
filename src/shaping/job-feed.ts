import { channelOn, type RedisLink, untilReady } from '../redis/connection.js';
import { type ShardTag, shardTag, sharedQueueKeys } from '../redis/keys.js';
import { isPassing } from '../redis/outage.js';
import { parseJobId } from './job-id.js';
import { isBefore, readEvents, type StreamEvents } from './stream-events.js';

/** How long Redis holds a read open when nothing happens, in milliseconds: one command a second while anybody watches. */
const BLOCK_MS = 1000;
/** What the connection of a feed must wait for a reply at least, in milliseconds. */
export const FEED_DEADLINE_MS = BLOCK_MS + 2000;
/** Events of one shard that a read takes at most. */
const PAGE = 1000;
/** Between two reads that found something: in a busy system events go together. */
const GATHER_MS = 2;
/** Jobs looked at again at a time, after an outage with thousands of watchers. */
const LOOKS_AT_ONCE = 64;
const RETRY_MS = 50;

/**
 * Told what happened to one job: the event as BullMQ names it (`active`, `progress`, `completed`, `failed`, …), or
 * `undefined` when anything may have happened and the job is to be looked at. Never rejects.
 */
export type JobWatcher = (event: string | undefined) => Promise<void>;

/** Where one hears what happens to jobs. */
export interface JobFeed {
  /**
   * Tells `watcher` of all that happens to a job from now on, beginning with `undefined`: whatever happens after that look
   * is told. Returns how to stop, which costs nothing.
   */
  watch(id: string, watcher: JobWatcher): () => void;
}

/** The events of one shard of a type. */
interface ShardFeed {
  readonly key: string;
  readonly watchers: Map<string, Set<JobWatcher>>;
  /** Everything after it will be heard; `undefined` until that is so, and after an outage. */
  position: string | undefined;
}

/**
 * {@link JobFeed} on the event streams that BullMQ writes, one for each type and shard. One connection and one read under
 * way, however many jobs, types and shards are watched; nothing is read while nobody watches.
 *
 * A stream forgets its oldest events. Where some may have been missed (the connection was lost, or the stream was
 * trimmed past what was read), everybody who watches the shard looks again.
 */
export class RedisJobFeed implements JobFeed {
  readonly #redis: RedisLink;
  readonly #commands: RedisLink;
  readonly #onError: (error: unknown) => void;
  readonly #feeds = new Map<ShardTag, ShardFeed>();
  readonly #closing = new AbortController();
  #reading: Promise<void> | undefined;
  #client: number | undefined;
  /** Set while Redis may be holding a read open. */
  #isBlocked = false;

  /**
   * @param redis Blocks, so it is the feed's alone; with a deadline of {@link FEED_DEADLINE_MS}. The caller's to close.
   * @param commands Interrupts a read, so that it takes in another shard.
   * @param onError Told of errors other than Redis being away.
   */
  constructor(redis: RedisLink, commands: RedisLink, onError: (error: unknown) => void) {
    this.#redis = redis;
    this.#commands = commands;
    this.#onError = onError;
  }

  watch(id: string, watcher: JobWatcher): () => void {
    const home = parseJobId(id);
    if (home === undefined) throw new Error(`${id} is not the id of a job`);
    const tag = shardTag(home.type, home.shard);
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
    void this.#interrupt();
    return feed;
  }

  async #read(): Promise<void> {
    while (this.#feeds.size > 0) {
      try {
        await untilReady(this.#redis, this.#closing.signal);
        this.#client ??= await this.#redis.client('ID');
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
    const keys = feeds.map(({ key }) => key);
    const positions = feeds.map(({ position }) => position ?? '$');
    this.#isBlocked = true;
    const reply = await this.#redis
      .xread('COUNT', PAGE, 'BLOCK', BLOCK_MS, 'STREAMS', ...keys, ...positions)
      .finally(() => {
        this.#isBlocked = false;
      });
    for (const stream of readEvents(reply, channelOn(this.#redis, ''))) {
      const feed = feeds.find(({ key }) => key === stream.key);
      if (feed) await this.#tell(feed, stream);
    }
    return reply !== null;
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
    this.#client = undefined;
    for (const feed of this.#feeds.values()) feed.position = undefined;
  }

  /** Ends the read that Redis holds open, if any. One that is on its way there cannot be ended yet. */
  async #interrupt(): Promise<void> {
    const client = this.#client;
    while (this.#isBlocked && client !== undefined && client === this.#client) {
      const ended = await this.#commands.client('UNBLOCK', client).catch(() => undefined);
      if (ended !== 0) return;
      await sleep(GATHER_MS);
    }
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

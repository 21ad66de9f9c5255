import type { RedisLink } from '../redis/connection.js';
import { type ShardTag, shardTag } from '../redis/keys.js';
import { EventReader } from './event-reader.js';
import { parseJobId } from './job-id.js';
import { HeldReads, PolledReads } from './stream-reads.js';

export { FEED_DEADLINE_MS } from './stream-reads.js';

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

/**
 * {@link JobFeed} on the event streams that BullMQ writes, one for each type and shard. On one server a single read is held
 * open for all that are watched; on a cluster each watched shard is asked by itself, so that a master that is away takes
 * nobody else's events with it. Nothing is read while nobody watches.
 */
export class RedisJobFeed implements JobFeed {
  readonly #readers = new Map<ShardTag | 'all', EventReader>();
  readonly #readerOf: (tag: ShardTag) => EventReader;

  /**
   * @param redis On one server its reads are held open: it is the feed's alone, with a deadline of {@link FEED_DEADLINE_MS}. On a
   *   cluster it may be the one for commands. The caller's to close.
   * @param commands Interrupts a read, so that it takes in another shard.
   * @param onError Told of errors other than Redis being away.
   */
  constructor(redis: RedisLink, commands: RedisLink, onError: (error: unknown) => void) {
    const isCluster = 'nodes' in redis;
    this.#readerOf = (tag) => {
      const place = isCluster ? tag : 'all';
      const known = this.#readers.get(place);
      if (known) return known;
      const reads = isCluster ? new PolledReads(redis) : new HeldReads(redis, commands);
      const reader = new EventReader({ redis, reads, onError });
      this.#readers.set(place, reader);
      return reader;
    };
  }

  watch(id: string, watcher: JobWatcher): () => void {
    const home = parseJobId(id);
    if (home === undefined) throw new Error(`${id} is not the id of a job`);
    const tag = shardTag(home.type, home.shard);
    return this.#readerOf(tag).watch(tag, id, watcher);
  }

  /** Reads no more; resolves when the reads under way have ended, at once where their connection is closed. Nobody is told. */
  async close(): Promise<void> {
    await Promise.all([...this.#readers.values()].map((reader) => reader.close()));
  }
}

import { setTimeout as pause } from 'node:timers/promises';
import { channelOn, type RedisLink } from '../redis/connection.js';
import { readEvents, type StreamEvents } from './stream-events.js';

/** How long Redis holds a read open when nothing happens, in milliseconds: one command a second while anybody watches. */
const BLOCK_MS = 1000;
/** What a connection of {@link HeldReads} must wait for a reply at least, in milliseconds. */
export const FEED_DEADLINE_MS = BLOCK_MS + 2000;
/** Events of one stream that a read takes at most. */
export const PAGE = 1000;
/** Between two tries to end a read that is on its way to Redis. */
const ON_ITS_WAY_MS = 2;
/** Pauses between reads that are not held open: the first after something was heard, and the longest. */
const POLL_MS = { first: 5, longest: 50 } as const;

/** Where to go on in a stream: behind the entry of this id. */
export interface StreamPlace {
  readonly key: string;
  readonly after: string;
}

/** How events are waited for. One read is under way at a time. */
export interface StreamReads {
  /** What came behind these places, as soon as something has; nothing after a while, or after {@link interrupt}. */
  next(places: readonly StreamPlace[]): Promise<readonly StreamEvents[]>;
  /** There is another stream to be read than those of the read under way. */
  interrupt(): void;
}

/** Reads that the server holds open until something happens, over a connection that has nothing else to do. */
export class HeldReads implements StreamReads {
  readonly #redis: RedisLink;
  readonly #commands: RedisLink;
  /** The connection as the server knows it; another one after each reconnect. */
  #client: number | undefined;
  /** The read that the server may be holding open. */
  #held: object | undefined;

  /** @param commands Interrupts a read. */
  constructor(redis: RedisLink, commands: RedisLink) {
    this.#redis = redis;
    this.#commands = commands;
    redis.on('close', () => {
      this.#client = undefined;
    });
  }

  async next(places: readonly StreamPlace[]): Promise<readonly StreamEvents[]> {
    this.#held = {};
    try {
      this.#client ??= await this.#redis.client('ID');
      const keys = places.map(({ key }) => key);
      const ids = places.map(({ after }) => after);
      const reply = await this.#redis.xread('COUNT', PAGE, 'BLOCK', BLOCK_MS, 'STREAMS', ...keys, ...ids);
      return readEvents(reply, channelOn(this.#redis, ''));
    } finally {
      this.#held = undefined;
    }
  }

  interrupt(): void {
    if (this.#held !== undefined) void this.#end(this.#held);
  }

  /** One that is on its way to Redis cannot be ended yet. */
  async #end(read: object): Promise<void> {
    while (this.#held === read) {
      const client = this.#client;
      const ended = client === undefined ? 0 : await this.#commands.client('UNBLOCK', client).catch(() => 1);
      if (ended !== 0) return;
      await pause(ON_ITS_WAY_MS);
    }
  }
}

/**
 * Reads that are answered at once, and again after a pause, which grows while nothing happens. For a stream in a slot of a
 * cluster: a read of streams in several slots is refused there, also where one master has them all, and one that is held
 * open would keep a connection for each.
 */
export class PolledReads implements StreamReads {
  readonly #redis: RedisLink;
  #pauseMs: number = POLL_MS.first;

  constructor(redis: RedisLink) {
    this.#redis = redis;
  }

  async next(places: readonly StreamPlace[]): Promise<readonly StreamEvents[]> {
    const replies = await Promise.all(
      places.map(({ key, after }) => this.#redis.xread('COUNT', PAGE, 'STREAMS', key, after)),
    );
    const found = replies.flatMap((reply) => readEvents(reply, channelOn(this.#redis, '')));
    if (found.length > 0) this.#pauseMs = POLL_MS.first;
    else await this.#rest();
    return found;
  }

  interrupt(): void {
    this.#pauseMs = POLL_MS.first;
  }

  async #rest(): Promise<void> {
    await pause(this.#pauseMs);
    this.#pauseMs = Math.min(POLL_MS.longest, 2 * this.#pauseMs);
  }
}

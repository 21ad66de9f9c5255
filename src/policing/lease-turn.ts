import type { RedisLink } from '../redis/connection.js';
import { isCluster } from '../redis/masters.js';
import { type Argument, runScripts } from '../redis/script.js';
import type { Returned } from './held-units.js';
import { type LeaseReply, scripts } from './lease-scripts.js';
import type { LeasedBucket } from './leased-bucket.js';

/** What is asked of one bucket. */
export interface LeaseRequest {
  readonly bucket: LeasedBucket;
  /** Units per second that the process is asked for. */
  readonly weight: number;
  /** Units that it would take; 0 only looks. */
  readonly want: number;
  /** Units without which a grant is of no use. */
  readonly least: number;
  readonly returns: readonly Returned[];
}

interface Waiting {
  readonly request: LeaseRequest;
  readonly resolve: (reply: LeaseReply) => void;
  readonly reject: (error: unknown) => void;
}

export interface LeaseTurnOptions {
  readonly redis: RedisLink;
  /** The script's first arguments: `now`, `process`, `lease`. */
  readonly head: () => readonly Argument[];
}

/** A call of so many buckets keeps Redis from others for some 0.2 ms; more would save next to nothing. */
const MOST_TOGETHER = 16;

/**
 * Requests for units that are made in the same turn of the event loop travel to Redis in one pipeline, so many in one call
 * of the script; on a cluster, where their keys lie in different slots, each by itself. They wait for nothing but the end of
 * that turn. Each is sent once. A bucket that fails rejects its own request, a call that fails those of all its buckets.
 */
export class LeaseTurn {
  readonly #options: LeaseTurnOptions;
  readonly #most: number;
  #waiting: Waiting[] = [];

  constructor(options: LeaseTurnOptions) {
    this.#options = options;
    this.#most = isCluster(options.redis) ? 1 : MOST_TOGETHER;
  }

  ask(request: LeaseRequest): Promise<LeaseReply> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) process.nextTick(() => void this.#send());
      this.#waiting.push({ request, resolve, reject });
    });
  }

  async #send(): Promise<void> {
    const batches = inBatches(this.#waiting, this.#most);
    this.#waiting = [];
    try {
      const replies = await runScripts(
        this.#options.redis,
        batches.map((batch) => this.#callOf(batch)),
      );
      batches.forEach((batch, i) => {
        answer(batch, replies[i] ?? { error: new Error('Redis gave no reply') });
      });
    } catch (error) {
      for (const { reject } of batches.flat()) reject(error);
    }
  }

  #callOf(batch: readonly Waiting[]) {
    const keys = batch.map(({ request }) => request.bucket.redisKey);
    const argv = [...this.#options.head()];
    for (const { request } of batch) {
      const { bucket, weight, want, least, returns } = request;
      argv.push(weight, want, least, bucket.meter.emissionUs, bucket.meter.burst, returns.length);
      for (const { units, tatUs } of returns) argv.push(units, tatUs);
    }
    return { script: scripts.lease, keys, argv };
  }
}

function answer(
  batch: readonly Waiting[],
  said: { readonly reply: readonly (LeaseReply | Error)[] } | { readonly error: Error },
): void {
  batch.forEach(({ resolve, reject }, i) => {
    const reply = 'error' in said ? said.error : (said.reply[i] ?? new Error('Redis gave no reply'));
    if (reply instanceof Error) reject(reply);
    else resolve(reply);
  });
}

function inBatches<Item>(items: readonly Item[], most: number): Item[][] {
  const batches: Item[][] = [];
  for (let at = 0; at < items.length; at += most) batches.push(items.slice(at, at + most));
  return batches;
}

import type { SurveyedBucket } from '../shaping/bucket-survey.js';
import { smoothed, unitsIn, unitsServed } from './view/flow.js';
import { History, type Point } from './view/history.js';
import { type Percentiles, percentiles } from './view/percentiles.js';

/** How often the waits of its jobs are looked at, in milliseconds. */
const LOOK_MS = 5000;

/** For how long the latest jobs of a bucket waited, in milliseconds. */
export type ReadWaits = (type: string, tenant: string) => Promise<readonly number[]>;

/** One bucket that somebody has opened, over time. */
export class BucketWatch {
  readonly history = new History();
  rates = { in: 0, out: 0 };
  waits: Percentiles | null = null;
  /** The step of its history that is over by the last reading. */
  point: Point | undefined;
  readonly #readWaits: ReadWaits;
  #before: { readonly servedPerSecond: number; readonly waitingCost: number; readonly atMs: number } | undefined;
  #lookAtMs = 0;

  constructor(readWaits: ReadWaits) {
    this.#readWaits = readWaits;
  }

  /** Takes the bucket as it was found, and how many of its jobs were refused since it was last. Throws RedisUnavailable. */
  async add(bucket: SurveyedBucket, refused: number, atMs: number): Promise<void> {
    const { servedPerSecond, waitingCost, waiting, running } = bucket;
    const after = { servedPerSecond, waitingCost, atMs };
    const before = this.#before ?? after;
    const out = unitsServed(before, after);
    const come = unitsIn(out, before.waitingCost, waitingCost);
    const elapsedMs = atMs - before.atMs;
    this.rates = this.#before
      ? { in: smoothed(this.rates.in, come, elapsedMs), out: smoothed(this.rates.out, out, elapsedMs) }
      : { in: 0, out: servedPerSecond };
    this.#before = after;
    this.point = this.history.add({ atMs, flows: [come, out, refused], states: [waiting, running] });
    if (atMs < this.#lookAtMs) return;
    this.#lookAtMs = atMs + LOOK_MS;
    this.waits = percentiles(await this.#readWaits(bucket.type, bucket.tenant));
  }

  /** Forgets what can only be compared with a reading a moment ago. */
  pauseReading(): void {
    this.#before = undefined;
  }
}

import { orUnavailable } from '../redis/connection.js';
import type { ShardTag } from '../redis/keys.js';
import type { Argument, RunScript } from '../redis/script.js';
import { Batcher } from './batcher.js';
import { type AdmitAnswer, type AdmitAnswered, scripts } from './scripts.js';
import { type Settings, typeSettings } from './settings.js';
import type { ShardWatch } from './shard-watch.js';

/** What is asked of one bucket, in the words of the script. */
export interface AdmitRequest {
  /** Percent-encoded. */
  readonly tenant: string;
  readonly profile: Argument;
  /** Whether an earlier part of the request closed the door. */
  readonly closed: boolean;
  /** How many jobs, and the values of one after the other. */
  readonly jobs: number;
  readonly values: readonly Argument[];
  /** Of all their payloads. */
  readonly bytes: number;
}

/**
 * Jobs of one call, but for a single request with more. One by one a job took Redis 220 µs on a busy machine, 8 together 148,
 * 16 together 115, 50 together 105; and meanwhile nobody else is served.
 */
export const TOGETHER = 16;

/** Redis takes as long to take in so many bytes of payload as to admit a job. */
const BYTES_OF_A_JOB = 65_536;

/**
 * Admits what comes to one shard of a type in the same turn of the event loop in one call. None waits for another: under load many
 * requests come in one turn, as the answers to the last went out together.
 */
export class AdmitCalls {
  readonly #run: RunScript;
  readonly #settings: Settings;
  readonly #watch: ShardWatch;
  readonly #batchers = new Map<ShardTag, Batcher<AdmitRequest, AdmitAnswered>>();

  constructor(run: RunScript, settings: Settings, watch: ShardWatch) {
    this.#run = run;
    this.#settings = settings;
    this.#watch = watch;
  }

  /** Rejects with RedisUnavailable where nobody knows what became of it. */
  admit(type: string, tag: ShardTag, request: AdmitRequest): Promise<AdmitAnswered> {
    const weight = request.jobs + Math.floor(request.bytes / BYTES_OF_A_JOB);
    return orUnavailable(() => this.#batcherOf(type, tag).add(request, weight));
  }

  #batcherOf(type: string, tag: ShardTag): Batcher<AdmitRequest, AdmitAnswered> {
    const known = this.#batchers.get(tag);
    if (known) return known;
    const send = (requests: readonly AdmitRequest[]) => this.#send(type, tag, requests);
    const made = new Batcher(send, { maxWeight: TOGETHER, maxUnderWay: Infinity });
    this.#batchers.set(tag, made);
    return made;
  }

  async #send(
    type: string,
    tag: ShardTag,
    requests: readonly AdmitRequest[],
  ): Promise<PromiseSettledResult<AdmitAnswered>[]> {
    const { keepResults } = typeSettings(this.#settings, type);
    const free = await this.#watch.freeBeside(type, tag);
    const argv: Argument[] = ['', keepResults.ageMs, keepResults.count, free === Infinity ? '' : free];
    for (const { tenant, profile, closed, jobs, values } of requests) {
      argv.push(tenant, profile, closed ? '1' : '', jobs, ...values);
    }
    return (await this.#run({ script: scripts.admit, tag, argv })).map(settledOf);
  }
}

function settledOf(answer: AdmitAnswer): PromiseSettledResult<AdmitAnswered> {
  if (answer.kind === 'answered') return { status: 'fulfilled', value: answer };
  return { status: 'rejected', reason: new Error(answer.message) };
}

import type { TypeConfig } from '../config/config.js';
import { afterFailure } from '../model/failed-run.js';
import { orUnavailable } from '../redis/connection.js';
import type { Subscriber } from '../redis/subscriber.js';
import { ClaimQueue } from './claim-queue.js';
import { type EndedRun, type RunJob, runJobOf, termsOf, waitOf } from './run-job.js';
import type { Emitted, JobFields } from './scripts.js';
import { type Slip, slipOf } from './slip.js';
import type { TypeSource } from './type-source.js';
import type { UnseenEnd } from './unseen-end.js';
import type { Held, HoldScope, Outcome } from './work-source.js';

/** Who hears of runs of workers elsewhere, for logs and metrics. */
export interface RemoteObserver {
  /** `slip`: how its promised start was kept, of its first one. */
  started(job: RunJob, slip: Slip | undefined): void;
  ended(run: EndedRun): void;
  /** Jobs were taken back from workers that are gone. */
  recovered(type: string, ids: readonly string[]): void;
  /** Jobs ended without any worker or caller that knows of it. */
  unseen(ends: readonly UnseenEnd[]): void;
}

/** A job as it is handed to a worker elsewhere. Durations in milliseconds; instants since 1970, by the clock of Redis. */
export interface ClaimedRun {
  readonly job: RunJob;
  /** The caller's payload, JSON. */
  readonly payload: string;
  readonly startedAtMs: number;
}

/** A run that came to nothing. */
export interface RemoteFailure {
  /** Why, for whoever reads the job. */
  readonly message: string;
  /** No other attempt can help. */
  readonly final: boolean;
  /** The job's upstream takes nothing for so long. */
  readonly busy?: { readonly retryAfterMs: number; readonly scope: HoldScope } | undefined;
}

/** How a run stands with whoever holds it: it goes on, it is to be given up, or it is somebody else's or nobody's. */
export type Standing =
  | { readonly kind: 'held' | 'lost' }
  | { readonly kind: 'stop'; readonly reason: 'cancelled' | 'timeout' };

/**
 * A type that workers elsewhere serve: what a runner does for those of its own process. Every method may be called again
 * with the same arguments after an error, and rejects with `RedisUnavailable` while Redis is away.
 */
export class RemoteType {
  readonly config: TypeConfig;
  readonly source: TypeSource;
  readonly #queue: ClaimQueue;
  readonly #observer: RemoteObserver;

  constructor(
    config: TypeConfig,
    source: TypeSource,
    {
      subscriber,
      observer,
      onError,
    }: { subscriber: Subscriber; observer: RemoteObserver; onError: (error: unknown) => void },
  ) {
    this.config = config;
    this.source = source;
    this.#queue = new ClaimQueue(source, subscriber, onError);
    this.#observer = observer;
  }

  /**
   * The fairest ready job, under a token that is new to every claim; the same token is answered with the same job while that
   * runs. Waits until `signal` aborts, and then answers `undefined`.
   */
  async claim(token: string, signal: AbortSignal): Promise<ClaimedRun | undefined> {
    const found = await this.#queue.claim(token, signal);
    if (found === undefined) return undefined;
    const job = runJobOf(this.config.name, found);
    this.#observer.started(job, slipOf(found.fields));
    const { fields } = found;
    return { job, payload: fields.get('data') ?? 'null', startedAtMs: Number(fields.get('processedOn')) };
  }

  /**
   * Keeps the locks of these runs, and says how each stands. One whose time is up has failed by that; one that was cancelled
   * stays its worker's until he gives it up, or until its time is up.
   */
  async renew(runs: readonly Held[]): Promise<Standing[]> {
    const { lostTokens, cancelRequestedIds } = await orUnavailable(() => this.source.renew(runs));
    return Promise.all(
      runs.map(async (held): Promise<Standing> => {
        if (lostTokens.includes(held.token)) return { kind: 'lost' };
        if (await this.#isOverdue(held)) return { kind: 'stop', reason: 'timeout' };
        return cancelRequestedIds.includes(held.id) ? { kind: 'stop', reason: 'cancelled' } : { kind: 'held' };
      }),
    );
  }

  /** Stores how far the job is, JSON. False when the run is lost. */
  progress(held: Held, json: string): Promise<boolean> {
    return orUnavailable(() => this.source.progress(held, json));
  }

  /** Stores chunks of output, JSON each; `first` is the number of the first of them within the run, from 1. */
  emit(held: Held, first: number, chunks: readonly string[]): Promise<Emitted> {
    return orUnavailable(() => this.source.emit(held, first, chunks));
  }

  /** The job costs this many units, 0.001 to 10,000. False when the run is lost. */
  charge(held: Held, cost: number): Promise<boolean> {
    return orUnavailable(() => this.source.charge(held, cost));
  }

  /** The job is done; its result is JSON. False when the run is lost. */
  complete(held: Held, result: string): Promise<boolean> {
    return this.#end(held, () => ({ kind: 'completed', value: result }));
  }

  /** The run came to nothing: the type's terms say whether there is another. False when the run is lost. */
  fail(held: Held, failure: RemoteFailure): Promise<boolean> {
    return this.#end(held, (job, fields) => this.#afterFailure(failure, job, fields));
  }

  /** Gives the job back, to the front of its bucket, as if the run had not been. False when the run is lost. */
  release(held: Held): Promise<boolean> {
    return this.#end(held, () => ({ kind: 'return', value: 'its worker gave it back' }));
  }

  /** Claims that wait. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Something may be ready. */
  wake(): void {
    this.#queue.wake();
  }

  /** Answers who waits with nothing; resolves when nothing is under way. */
  close(): Promise<void> {
    return this.#queue.close();
  }

  #afterFailure(failure: RemoteFailure, { attempt }: RunJob, fields: JobFields): Outcome {
    return afterFailure({ ...failure, busy: failure.busy, attempt, ...termsOf(fields) }, this.config);
  }

  async #isOverdue(held: Held): Promise<boolean> {
    const found = await orUnavailable(() => this.source.runsOf(held));
    const { timeoutMs } = this.config;
    if (found === undefined || found.unixMs - Number(found.fields.get('processedOn')) < timeoutMs) return false;
    return this.fail(held, { message: `timed out after ${timeoutMs} ms`, final: false });
  }

  async #end(held: Held, outcomeOf: (job: RunJob, fields: JobFields) => Outcome): Promise<boolean> {
    const found = await orUnavailable(() => this.source.runsOf(held));
    if (found === undefined) return false;
    const { state, fields, unixMs } = found;
    const job = runJobOf(this.config.name, { ...held, fields });
    const outcome = outcomeOf(job, fields);
    // Of a run that is over the script knows whose it was, and not how it ended.
    if (outcome.kind === 'completed' && state !== 'active' && state !== 'completed') return false;
    const { verdict } = await orUnavailable(() => this.source.settle(held, outcome));
    if (state === 'active') {
      const runMs = Math.max(0, unixMs - Number(fields.get('processedOn')));
      const told = fields.has('hg:u');
      this.#observer.ended({ job, outcome, verdict, waitMs: waitOf(fields), runMs, told });
    }
    return verdict === 'settled';
  }
}

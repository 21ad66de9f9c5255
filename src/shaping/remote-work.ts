import type { TypeConfig } from '../config/config.js';
import type { RedisLink } from '../redis/connection.js';
import { onServer } from '../redis/masters.js';
import { isPassing } from '../redis/outage.js';
import type { Subscriber } from '../redis/subscriber.js';
import { type Agent, makeAgent } from './agent.js';
import { openTypeSource } from './open-type-source.js';
import type { Outbox } from './outbox.js';
import { type RemoteObserver, RemoteType } from './remote-type.js';
import type { Settings } from './settings.js';
import type { TypeSource } from './type-source.js';

/** How often a job may stall before it fails. */
const MAX_STALLED = 1;
const SWEEP_EVERY_MS = 5000;

export interface RemoteWorkOptions {
  readonly lockMs: number;
  readonly stalledIntervalMs: number;
  readonly observer: RemoteObserver;
  /** What is to be known before Redis is told of the types: what overrides the configuration. */
  readonly beforeWork: () => Promise<void>;
  readonly onError: (error: unknown) => void;
  /** Where ends stand that somebody wants to be told; without it nobody is. */
  readonly outbox?: Pick<Outbox, 'drain'>;
}

/** Where one finds a type that workers elsewhere serve. */
export interface RemoteTypes {
  /** How long the lock of a run lasts, in milliseconds. */
  readonly lockMs: number;
  /** `undefined` for a type that is not served from elsewhere. */
  type(name: string): RemoteType | undefined;
  names(): readonly string[];
}

/**
 * The types without a handler of their own, for workers elsewhere: what a pool does for its types beside running jobs,
 * this does for theirs. Jobs of workers that vanished come back; results whose time is over go; ends that
 * somebody wants to be told are.
 */
export class RemoteWork implements RemoteTypes {
  readonly lockMs: number;
  readonly #redis: RedisLink;
  readonly #types: ReadonlyMap<string, RemoteType>;
  readonly #agents: readonly Agent[];
  readonly #onError: (error: unknown) => void;
  readonly #beforeWork: () => Promise<void>;
  #leave: () => void = () => undefined;

  constructor(
    parts: { redis: RedisLink; subscriber: Subscriber; settings: Settings; types: Iterable<TypeConfig> },
    { lockMs, stalledIntervalMs, observer: told, beforeWork, onError, outbox }: RemoteWorkOptions,
  ) {
    this.lockMs = lockMs;
    this.#redis = parts.redis;
    this.#onError = onError;
    this.#beforeWork = beforeWork;
    const drain = async (type: string): Promise<void> => outbox?.drain(type);
    const observer: RemoteObserver = {
      ...told,
      ended: (run) => {
        told.ended(run);
        if (run.told) drain(run.job.type).catch((error: unknown) => isPassing(error) || onError(error));
      },
    };
    const types = [...parts.types].filter(({ handler }) => handler === null);
    this.#types = new Map(
      types.map((config) => {
        const source = openTypeSource(parts.redis, config.name, parts.settings, { worker: 'remote', lockMs });
        return [config.name, new RemoteType(config, source, { subscriber: parts.subscriber, observer, onError })];
      }),
    );
    this.#agents = [...this.#types.values()].flatMap(({ source }) => [
      makeAgent(() => recoverAll(source, observer), { everyMs: stalledIntervalMs, onError }),
      makeAgent(() => source.sweep(observer.unseen).then(() => drain(source.type)), {
        everyMs: SWEEP_EVERY_MS,
        onError,
      }),
    ]);
  }

  type(name: string): RemoteType | undefined {
    return this.#types.get(name);
  }

  names(): readonly string[] {
    return [...this.#types.keys()];
  }

  /** Tells Redis of the types, now and whenever it comes back, and keeps them in order from now on. */
  start(): void {
    this.#leave = onServer(this.#redis, () => void this.#begin());
    for (const agent of this.#agents) agent.start();
    if (this.#redis.status === 'ready') void this.#begin();
  }

  /** Answers who waits with nothing; resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#leave();
    await Promise.all([...this.#types.values()].map((type) => type.close()));
    await Promise.all(this.#agents.map((agent) => agent.stop()));
  }

  async #begin(): Promise<void> {
    await this.#beforeWork();
    for (const type of this.#types.values()) {
      try {
        await type.source.configure();
        type.wake();
      } catch (error) {
        if (!isPassing(error)) this.#onError(error);
      }
    }
  }
}

async function recoverAll(source: TypeSource, observer: RemoteObserver): Promise<void> {
  const { returnedIds, endedIds } = await source.recover(MAX_STALLED);
  const ids = [...returnedIds, ...endedIds];
  if (ids.length > 0) observer.recovered(source.type, ids);
}

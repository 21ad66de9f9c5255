import { EventEmitter } from 'node:events';
import type { RedisLink } from '../src/redis/connection.js';
import { onServer } from '../src/redis/masters.js';
import { isPassing } from '../src/redis/outage.js';
import { loadLibrary } from '../src/redis/script.js';
import type { Subscriber } from '../src/redis/subscriber.js';
import { type Agent, makeAgent } from '../src/shaping/agent.js';
import type { Outbox } from '../src/shaping/outbox.js';
import type { EndedRun, RunJob } from '../src/shaping/run-job.js';
import { library } from '../src/shaping/scripts.js';
import type { Slip } from '../src/shaping/slip.js';
import type { UnseenEnd } from '../src/shaping/unseen-end.js';
import { RENEWALS_PER_LOCK, type Runner } from './runner.js';

export interface PoolOptions {
  /** How long a lock lasts, in milliseconds; it is renewed three times within that. */
  readonly lockMs: number;
  /** How often dead workers' jobs are looked for, in milliseconds. */
  readonly stalledIntervalMs: number;
  /** How often a job may stall before it fails. */
  readonly maxStalled: number;
  /** The same of some types, by name. */
  readonly maxStalledOf?: Readonly<Record<string, number>>;
  /** Whatever has to be known before jobs are taken, now and whenever Redis comes back. */
  readonly beforeWork?: () => Promise<void>;
  /** Where ends stand that somebody wants to be told; without it nobody is. */
  readonly outbox?: Pick<Outbox, 'drain'>;
}

interface PoolEvents {
  /** `slip`: how its promised start was kept, of its first one. */
  active: [job: RunJob, slip: Slip | undefined];
  /** A free slot of the type got a job, so long after it knew that something may start. */
  taken: [type: string, lagMs: number];
  completed: [run: EndedRun];
  failed: [run: EndedRun];
  /** Retried, returned or lost: the job has not ended. */
  released: [run: EndedRun];
  stalled: [ids: readonly string[]];
  /** Jobs of which no worker and no caller knows that they ended: they expired, or stalled too often. */
  unseen: [ends: readonly UnseenEnd[]];
  error: [error: unknown];
}

const SWEEP_EVERY_MS = 5000;

/**
 * Serves any number of types, shards and tenants over two connections: one for commands, one for wake-ups. Each type has its own
 * slots, so types never delay each other.
 *
 * It owns its agents and listeners; the connections and the handlers are the caller's to close.
 */
export class Pool extends EventEmitter<PoolEvents> {
  readonly #redis: RedisLink;
  readonly #subscriber: Subscriber;
  readonly #runners: readonly Runner[];
  readonly #agents: readonly Agent[];
  readonly #beforeWork: (() => Promise<void>) | undefined;
  readonly #outbox: PoolOptions['outbox'];
  readonly #unsubscribe: (() => void)[] = [];
  /** What comes before work has been done. */
  #mayWork = false;

  constructor(redis: RedisLink, subscriber: Subscriber, runners: readonly Runner[], options: PoolOptions) {
    super();
    this.#redis = redis;
    this.#subscriber = subscriber;
    this.#runners = runners;
    this.#beforeWork = options.beforeWork;
    this.#outbox = options.outbox;
    this.#agents = this.#makeAgents(options);
    for (const runner of runners) this.#forward(runner);
  }

  /** Jobs under way, over all types. */
  get running(): number {
    return this.#runners.reduce((sum, runner) => sum + runner.running, 0);
  }

  /** Begins to take jobs, now and whenever Redis comes back. */
  async start(): Promise<void> {
    for (const runner of this.#runners) {
      this.#unsubscribe.push(runner.source.listen(this.#subscriber, (message) => this.#heard(runner, message)));
    }
    this.#unsubscribe.push(onServer(this.#redis, () => void this.#begin()));
    for (const agent of this.#agents) agent.start();
    if (this.#redis.status === 'ready') await this.#begin();
  }

  /** Takes nothing more; resolves when what runs has ended, or was handed back after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    await Promise.all(this.#runners.map((runner) => runner.stop(graceMs)));
    await Promise.all(this.#agents.map((agent) => agent.stop()));
  }

  async #begin(): Promise<void> {
    await loadLibrary(this.#redis, library).catch(() => undefined); // It is loaded when first needed otherwise.
    await this.#beforeWork?.();
    this.#mayWork = true;
    for (const runner of this.#runners) {
      try {
        await runner.source.configure();
        runner.wake();
      } catch (error) {
        if (!isPassing(error)) this.emit('error', error);
      }
    }
  }

  #heard(runner: Runner, message: string): void {
    const [verb, id] = message.split(' ');
    if (verb === 'cancel' && id !== undefined) runner.cancel(id);
    else if (verb === 'outbox') void this.#drain(runner);
    else if (this.#mayWork) runner.wake();
  }

  #forward(runner: Runner): void {
    runner.on('active', (job, slip) => this.emit('active', job, slip));
    runner.on('taken', (lagMs) => this.emit('taken', runner.source.type, lagMs));
    runner.on('error', (error) => this.emit('error', error));
    runner.on('ended', (run) => {
      if (run.told) void this.#drain(runner);
      if (run.verdict === 'lost') this.emit('released', run);
      else if (run.outcome.kind === 'completed') this.emit('completed', run);
      else if (run.outcome.kind === 'failed' || run.outcome.kind === 'cancelled') this.emit('failed', run);
      else this.emit('released', run);
    });
  }

  #makeAgents({ lockMs, stalledIntervalMs, maxStalled, maxStalledOf = {} }: PoolOptions): Agent[] {
    const onError = (error: unknown): boolean => this.emit('error', error);
    return this.#runners.flatMap((runner) => [
      makeAgent(() => keepLocks(runner), { everyMs: lockMs / RENEWALS_PER_LOCK, onError }),
      makeAgent(() => this.#recover(runner, maxStalledOf[runner.source.type] ?? maxStalled), {
        everyMs: stalledIntervalMs,
        onError,
      }),
      makeAgent(() => this.#sweep(runner), { everyMs: SWEEP_EVERY_MS, onError }),
    ]);
  }

  /** What another process left in the outbox is found here, at the latest. */
  async #sweep(runner: Runner): Promise<void> {
    await runner.source.sweep((ends) => this.emit('unseen', ends));
    await this.#outbox?.drain(runner.source.type);
  }

  async #drain(runner: Runner): Promise<void> {
    try {
      await this.#outbox?.drain(runner.source.type);
    } catch (error) {
      if (!isPassing(error)) this.emit('error', error);
    }
  }

  async #recover(runner: Runner, maxStalled: number): Promise<void> {
    const { returnedIds, endedIds } = await runner.source.recover(maxStalled);
    if (returnedIds.length + endedIds.length > 0) this.emit('stalled', [...returnedIds, ...endedIds]);
  }
}

async function keepLocks(runner: Runner): Promise<void> {
  const { held } = runner;
  if (held.length === 0) return;
  const { lostTokens, cancelRequestedIds } = await runner.source.renew(held);
  for (const token of lostTokens) runner.lose(token);
  for (const id of cancelRequestedIds) runner.cancel(id);
}

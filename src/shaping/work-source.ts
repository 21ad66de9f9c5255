import { randomUUID } from 'node:crypto';
import { DEFAULT_CAPACITY, hasLimit } from '../model/profile.js';
import type { RedisLink } from '../redis/connection.js';
import { type ShardTag, shardTag } from '../redis/keys.js';
import { isPassing } from '../redis/outage.js';
import { type Argument, runScript, type Script } from '../redis/script.js';
import { Batcher } from './batcher.js';
import { capacityArguments } from './capacity-arguments.js';
import { type Holders, permitScripts } from './permit-scripts.js';
import { type Dispatched, type Emitted, type JobFields, scripts, type Turn } from './scripts.js';
import type { TypeSettings } from './settings.js';
import { OtherData, STORED_FORMAT } from './stored-data.js';
import { type UnseenEnd, unseenEndOf } from './unseen-end.js';

/** Buckets ripened, jobs promoted and jobs expired by one call, at most. */
const STEP_LIMIT = 32;
/**
 * Runs settled by one call, at most, and calls under way at once: a call holds Redis for 0.2 ms a run. With 8 and 2 a pool
 * of 100 slots did 4,000 jobs a second, with 16 and 3 4,600, with 32 no more.
 */
const SETTLING = { maxWeight: 16, maxUnderWay: 3 } as const;
const RECOVER_PAGE = 200;
const SWEEP_TENANTS = 100;
const SWEEP_JOBS = 200;

/**
 * What one run of a job came to. Delays in milliseconds. `busy`: the job's upstream takes nothing for so long, and neither
 * its bucket nor, where the scope says so, its type starts anything meanwhile; the job waits again as if it had not started.
 */
export type Outcome =
  | { readonly kind: 'completed'; readonly value: string }
  | { readonly kind: 'failed' | 'cancelled' | 'return'; readonly value: string }
  | { readonly kind: 'retry'; readonly value: string; readonly delayMs: number; readonly front: boolean }
  | { readonly kind: 'busy'; readonly value: string; readonly holdMs: number; readonly scope: HoldScope };

/** What starts nothing while an upstream is busy. */
export type HoldScope = 'bucket' | 'type';

/** A job that this worker holds. */
export interface Held {
  readonly token: string;
  /** Percent-encoded, as dispatch gave it. */
  readonly tenant: string;
  readonly id: string;
}

interface SettledRun {
  readonly held: Held;
  readonly outcome: Outcome;
  readonly nextToken: string | undefined;
  readonly floor: Floor;
}

/** In place of a token for the next job. */
export const ELSEWHERE = '-';

export interface Settled {
  readonly verdict: 'settled' | 'lost';
  readonly next: Dispatched;
  /** The permit of the run that ended, where it had one. */
  readonly permit?: string;
}

export interface WorkSourceOptions {
  /** Who takes the jobs. */
  readonly worker: string;
  /** How long a lock lasts, in milliseconds. */
  readonly lockMs: number;
  /** Which of how many shards of the type; the only one unless stated. */
  readonly shard?: { readonly index: number; readonly count: number };
}

/** Up to where virtual time has come in any shard of a type; '' where it has but one. */
type Floor = number | '';

/**
 * Where one gets the jobs of one shard of a type from and where one brings them back. Every method is one script on Redis, and
 * may be repeated with the same arguments after an error: the second call answers what the first one did.
 */
export class WorkSource {
  readonly type: string;
  readonly tag: ShardTag;
  /** How long a lock lasts, in milliseconds. */
  readonly lockMs: number;
  readonly #redis: RedisLink;
  readonly #settings: TypeSettings;
  readonly #worker: string;
  readonly #shards: number;
  readonly #settling = new Batcher((runs: readonly SettledRun[]) => this.#settleTogether(runs), SETTLING);

  constructor(redis: RedisLink, type: string, settings: TypeSettings, { worker, lockMs, shard }: WorkSourceOptions) {
    this.#redis = redis;
    this.type = type;
    this.tag = shardTag(type, shard?.index);
    this.#shards = shard?.count ?? 1;
    this.#settings = settings;
    this.#worker = worker;
    this.lockMs = lockMs;
  }

  /** Tells Redis the type's capacity. Throws {@link OtherData}, and writes nothing, where it cannot go on with what is there. */
  async configure(): Promise<void> {
    const { capacity, slackUs } = this.#settings;
    const isOnlyOne = this.#shards === 1;
    // What several shards may do in all, none of them can hold: it lets nothing start without a permit, and nothing at all in a pause.
    const ratePerSecond = capacity.ratePerSecond === 0 ? 0 : Infinity;
    const own = isOnlyOne ? capacity : { ...DEFAULT_CAPACITY, ratePerSecond };
    const permits = !isOnlyOne && hasLimit(capacity) ? '1' : '';
    const argv = ['', STORED_FORMAT, ...capacityArguments(own, slackUs), this.#shards, permits];
    const reply = await this.#run(scripts.configure, argv);
    if (reply.kind === 'ok') return;
    throw new OtherData(this.type, reply.kind, reply.stored, this.#shards);
  }

  /** A token for one dispatch: unique, and it says whose it is. */
  newToken(): string {
    return `${this.#worker}#${randomUUID()}`;
  }

  /** Takes the fairest ready job of any tenant, under a token that is new to every dispatch. */
  dispatch(token: string, floor: Floor = '', permit = ''): Promise<Dispatched> {
    return this.#run(scripts.dispatch, ['', token, this.lockMs, STEP_LIMIT, ...this.#keep(), floor, permit]);
  }

  /** Which of these permits no run of the shard holds, its runs without one, and its time. */
  holders(permits: readonly string[]): Promise<Holders> {
    return this.#run(permitScripts.holders, ['', ...permits]);
  }

  /** Where this shard stands, once it has followed what was served in others. */
  turn(floor: number): Promise<Turn> {
    return this.#run(scripts.turn, ['', floor]);
  }

  /** Lets nothing of the shard start for so many milliseconds. */
  async hold(holdMs: number): Promise<void> {
    await this.#run(scripts.hold, ['', holdMs]);
  }

  /**
   * Ends the run of a job and, when `nextToken` is given, takes the next one. Runs that end while others are being settled
   * go together.
   *
   * @param nextToken {@link ELSEWHERE}: the slot goes on with a job of another shard.
   */
  settle(held: Held, outcome: Outcome, nextToken?: string, floor: Floor = ''): Promise<Settled> {
    return this.#settling.add({ held, outcome, nextToken, floor });
  }

  async #settleTogether(runs: readonly SettledRun[]): Promise<PromiseSettledResult<Settled>[]> {
    try {
      return (await this.#settleAll(runs)).map((value) => ({ status: 'fulfilled', value }));
    } catch (error) {
      if (runs.length === 1 || isPassing(error)) throw error;
      // What Redis will not take of one run is no reason not to settle the others.
      return Promise.allSettled(runs.map((run) => this.#settleAlone(run)));
    }
  }

  async #settleAlone(run: SettledRun): Promise<Settled> {
    const [settled] = await this.#settleAll([run]);
    if (!settled) throw new Error('settle said nothing of its run');
    return settled;
  }

  #settleAll(runs: readonly SettledRun[]): Promise<Settled[]> {
    // Start tags only grow: the greatest floor is as good for all.
    const floor = runs.reduce<Floor>((most, run) => (run.floor === '' ? most : Math.max(Number(most), run.floor)), '');
    const argv = ['', this.#settings.attempts, ...this.#keep(), this.lockMs, STEP_LIMIT, floor];
    return this.#run(scripts.settle, [...argv, ...runs.flatMap(runArguments)]);
  }

  /** Keeps the locks of what runs; tells which runs are lost and which jobs are asked to stop. */
  renew(tokens: readonly string[]): Promise<{ lostTokens: string[]; cancelRequestedIds: string[] }> {
    return this.#run(scripts.renew, [this.lockMs, ...tokens]);
  }

  /** Stores how far a job is, JSON. False when it is no longer this worker's. */
  progress(token: string, json: string): Promise<boolean> {
    return this.#run(scripts.progress, [token, json]);
  }

  /**
   * Stores chunks of the job's output, JSON each; `first` is the number of the first of them within this run, from 1.
   */
  emit(token: string, first: number, chunks: readonly string[]): Promise<Emitted> {
    return this.#run(scripts.emit, [token, first, ...chunks]);
  }

  /** The job costs this many units, 0.001 to 10,000. Says whether it is this worker's still, and its permit ('' where it has none). */
  charge(token: string, cost: number): Promise<{ readonly isHeld: boolean; readonly permit: string }> {
    return this.#run(scripts.charge, ['', token, cost]);
  }

  /**
   * What a job's hash says of its runs, without the payload, whether one is under way, and the time of Redis in milliseconds;
   * `undefined` when there is no such job.
   */
  runsOf({
    tenant,
    id,
  }: Omit<Held, 'token'>): Promise<{ state: string; fields: JobFields; unixMs: number } | undefined> {
    return this.#run(scripts.read, ['', tenant, id, 0, '', '']);
  }

  /** Takes back what dead workers were running. Ids of jobs that wait again and of jobs that ended. */
  async recover(maxStalled: number, floor: Floor = ''): Promise<{ returnedIds: string[]; endedIds: string[] }> {
    const returnedIds: string[] = [];
    const endedIds: string[] = [];
    let cursor = '0';
    do {
      const page = await this.#run(scripts.recover, ['', cursor, RECOVER_PAGE, maxStalled, ...this.#keep(), floor]);
      returnedIds.push(...page.returnedIds);
      endedIds.push(...page.endedIds);
      cursor = page.cursor;
    } while (cursor !== '0');
    return { returnedIds, endedIds };
  }

  /**
   * Removes results whose time is over, lets overdue jobs expire, and takes the ends that nobody saw, which are the caller's to log. Says whether there
   * was more than one call does, and the finish tag of a shard at rest.
   */
  async sweep(floor: Floor = ''): Promise<{ more: boolean; idleAt: number | null; unseen: UnseenEnd[] }> {
    const argv = ['', SWEEP_TENANTS, SWEEP_JOBS, ...this.#keep(), floor];
    const { tenants, jobs, idleAt, unseen } = await this.#run(scripts.sweep, argv);
    return {
      more: tenants === SWEEP_TENANTS || jobs >= SWEEP_JOBS || unseen.length === SWEEP_JOBS,
      idleAt,
      unseen: unseen.map((record) => unseenEndOf(this.type, record)),
    };
  }

  #keep(): [ageMs: number, count: number] {
    return [this.#settings.keepResults.ageMs, this.#settings.keepResults.count];
  }

  #run<Reply>(script: Script<Reply>, argv: readonly Argument[]): Promise<Reply> {
    return runScript(this.#redis, { script, tag: this.tag, argv });
  }
}

function runArguments({ held: { token, tenant, id }, outcome, nextToken }: SettledRun): Argument[] {
  return [token, tenant, id, ...outcomeArguments(outcome), nextToken ?? ''];
}

/** Of the script settle: outcome, value, delay and where. */
export function outcomeArguments(outcome: Outcome): [kind: string, value: string, delayMs: number, where: string] {
  const { kind, value } = outcome;
  if (kind === 'retry') return [kind, value, outcome.delayMs, outcome.front ? 'front' : 'back'];
  if (kind === 'busy') return [kind, value, outcome.holdMs, outcome.scope];
  return [kind, value, 0, ''];
}

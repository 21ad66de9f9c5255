import {
  type BackendFactory,
  type FinishedStatus,
  type IRedisTransaction,
  QueueKeys,
  type RedisClient,
  RedisConnection,
  RedisQueueBackend,
} from 'bullmq';
import type { Redis } from 'ioredis';
import type { Admission, NewJob } from '../model/verdict.js';
import { decodeTenant, encodeTenant, queuePrefix, type ShardTag, sharedQueueKeys } from '../redis/keys.js';
import { type Argument, runScript } from '../redis/script.js';
import { BULLMQ_COMMANDS } from './bullmq-commands.js';
import { newJobId } from './job-id.js';
import { profileBytes } from './profile-bytes.js';
import { scripts } from './scripts.js';
import { type Settings, typeSettings } from './settings.js';
import type { Shaping } from './shaping.js';

/** A command of BullMQ's that would slip past the schedule of a shaped queue. */
export class RefusedOnShapedQueue extends Error {
  override readonly name = 'RefusedOnShapedQueue';

  constructor(command: string, instead: string) {
    super(`${command} is refused on a shaped queue: ${instead}`);
  }
}

/** Jobs that the door did not admit; `admissions` has the verdict of every job of the call, in its order. */
export class NotAdmitted extends Error {
  override readonly name = 'NotAdmitted';
  readonly admissions: readonly Admission[];

  constructor(admissions: readonly Admission[]) {
    const refused = admissions.filter(({ verdict }) => verdict === 'rejected');
    const reasons = new Set(refused.map((admission) => (admission.verdict === 'rejected' ? admission.reason : '')));
    super(`${refused.length} of ${admissions.length} jobs were not admitted: ${[...reasons].join(', ')}`);
    this.admissions = admissions;
  }
}

/** What a shaped queue stands on. The connection is the caller's to close. */
export interface ShapedQueueParts {
  readonly redis: Redis;
  readonly settings: Settings;
  readonly shaping: Shaping;
  /** Units that a payload takes; 1 when absent. */
  readonly costOf?: (type: string, data: unknown) => number;
}

type AddJob = RedisQueueBackend['addJob'];
type JobJson = Parameters<AddJob>[0];
type AddedJob = Parameters<RedisQueueBackend['addJobs']>[0][number];

/**
 * BullMQ's backend for the queue of one (type, tenant) pair, so that a program that already uses BullMQ can look into and
 * manage a bucket with BullMQ's own `Queue` and `Job`. Every command goes the way that {@link BULLMQ_COMMANDS} says.
 */
export class ShapedBackend extends RedisQueueBackend {
  readonly #parts: ShapedQueueParts;
  readonly #type: string;
  readonly #tag: ShardTag;

  constructor(
    parts: ShapedQueueParts,
    type: string,
    tenant: string,
    opts: ConstructorParameters<typeof RedisQueueBackend>[4],
  ) {
    const tag = parts.settings.shards.tagOf(type, tenant);
    const name = encodeTenant(tenant);
    const keys = new QueueKeys(queuePrefix(tag));
    const all = { ...keys.getKeys(name), ...sharedQueueKeys(tag) };
    const connection = new RedisConnection(parts.redis, { shared: true, blocking: false, skipVersionCheck: true });
    const shared = new Map(Object.entries(sharedQueueKeys(tag)));
    const toKey = (suffix: string): string => shared.get(suffix) ?? keys.toKey(name, suffix);
    super(connection, name, all, toKey, Object.assign({}, opts, { prefix: queuePrefix(tag) }), undefined, false);
    this.#parts = parts;
    this.#type = type;
    this.#tag = tag;
  }

  override execCommand(client: RedisClient | IRedisTransaction, name: string, args: unknown[]): unknown {
    const treatment = BULLMQ_COMMANDS[name];
    if (!treatment) throw new RefusedOnShapedQueue(name, 'this version of Headgate does not know it');
    switch (treatment.kind) {
      case 'pass':
        return super.execCommand(client, name, args);
      case 'refuse':
        throw new RefusedOnShapedQueue(name, treatment.instead);
      case 'touch-job': {
        const { script, keys, idAt, timeAt } = treatment;
        const argv = ['', this.name, this.#profile(), String(args[idAt]), timeAt, keys, ...args.map(asArgument)];
        return runScript(this.#parts.redis, { script, tag: this.#tag, argv });
      }
      case 'touch-bucket': {
        const { script, keys } = treatment;
        const argv = ['', this.name, keys, ...args.map(asArgument)];
        return runScript(this.#parts.redis, { script, tag: this.#tag, argv });
      }
    }
  }

  /** Admits one job. Throws {@link NotAdmitted} when the door stays shut. */
  override async addJob(job: JobJson, jobId?: string): Promise<string> {
    const [id = ''] = await this.#admit([this.#newJob(job, jobId)]);
    return id;
  }

  /** Admits jobs in their order, in one script. Throws {@link NotAdmitted}, with all verdicts, when some are not. */
  override async addJobs(entries: AddedJob[]): Promise<string[]> {
    return this.#admit(entries.map(({ job, jobId }) => this.#newJob(job, jobId)));
  }

  async #admit(jobs: readonly NewJob[]): Promise<string[]> {
    const { admissions } = await this.#parts.shaping.admit(this.#type, decodeTenant(this.name), jobs);
    const ids = admissions.flatMap((admission) => (admission.verdict === 'admitted' ? [admission.id] : []));
    if (ids.length < jobs.length) throw new NotAdmitted(admissions);
    return ids;
  }

  override async changePriority(jobId: string, priority = 0, lifo = false): Promise<void> {
    checkPriority(priority);
    return super.changePriority(jobId, priority, lifo);
  }

  /** Delayed jobs join what waits, first due first, one by one: BullMQ's bulk script would put them before all priorities. */
  override async promoteJobs(count = BULK): Promise<number> {
    const ids = await this.#parts.redis.zrange(this.toKey('delayed'), 0, count - 1);
    for (const id of ids) await this.promote(id);
    return ids.length === count ? MORE : DONE;
  }

  /** Ended jobs wait again, oldest first, each at the end of its own priority; see {@link promoteJobs}. */
  override async retryFinishedJobs(
    state: FinishedStatus = 'failed',
    count = BULK,
    timestamp = Date.now(),
  ): Promise<number> {
    const { redis } = this.#parts;
    const ids = await redis.zrangebyscore(this.toKey(state), '-inf', timestamp, 'LIMIT', 0, count);
    const { events, wait, meta, active, marker, prioritized, pc } = this.keys;
    const property = state === 'failed' ? 'failedReason' : 'returnvalue';
    for (const id of ids) {
      const keys = [this.toKey(id), events, this.keys[state], wait, meta, active, marker, prioritized, pc];
      await this.execCommand(await this.client, 'reprocessJob', [...keys, id, 'LPUSH', property, state, '0', '0']);
    }
    return ids.length === count ? MORE : DONE;
  }

  override async addFlow(): Promise<never> {
    throw new RefusedOnShapedQueue('addFlow', 'flows and parents are not available');
  }

  override async pause(pause: boolean): Promise<void> {
    const argv = ['', this.name, pause ? '1' : '0'];
    await runScript(this.#parts.redis, { script: scripts.pause, tag: this.#tag, argv });
  }

  override async setQueueMeta(values: Record<string, string | number>): Promise<number> {
    // What `new Queue` writes about itself; all queues of a shard share it.
    const harmless = Object.keys(values).every((field) => field === 'version' || field === 'opts.maxLenEvents');
    if (!harmless) throw new RefusedOnShapedQueue('setQueueMeta', "the tenant's profile sets rate and concurrency");
    return super.setQueueMeta(values);
  }

  override async setRateLimit(): Promise<void> {
    throw new RefusedOnShapedQueue('setRateLimit', "the tenant's profile sets rate and concurrency");
  }

  override async removeRateLimitKey(): Promise<number> {
    throw new RefusedOnShapedQueue('removeRateLimitKey', "the tenant's profile sets rate and concurrency");
  }

  #profile(): Buffer {
    const { slackUs } = typeSettings(this.#parts.settings, this.#type);
    return profileBytes(this.#parts.settings.profile(this.#type, decodeTenant(this.name)), slackUs);
  }

  #newJob(job: JobJson, jobId: string | undefined): NewJob {
    const { opts } = job;
    const priority = opts.priority ? opts.priority - 1 : DEFAULT_PRIORITY;
    checkPriority(priority + 1);
    const reordering = REFUSED_OPTIONS.find((option) => Reflect.get(opts, option));
    if (reordering) throw new RefusedOnShapedQueue(`the option ${reordering}`, 'it would re-order or re-queue jobs');
    return {
      id: jobId || newJobId(this.#type, this.#parts.settings.shards.of(decodeTenant(this.name))),
      data: job.data,
      priority,
      delayMs: opts.delay ?? 0,
      cost: this.#parts.costOf?.(this.#type, JSON.parse(job.data)) ?? 1,
    };
  }
}

const DEFAULT_PRIORITY = 4;
/** Jobs that one call of a bulk operation handles, and what it answers: whether to call again. */
const BULK = 1000;
const [DONE, MORE] = [0, 1];
const REFUSED_OPTIONS = ['parent', 'deduplication', 'lifo', 'repeat'];

/** Every waiting job has one of the ten priorities whose cost a bucket counts. */
function checkPriority(priority: number): void {
  if (Number.isInteger(priority) && priority >= 1 && priority <= 10) return;
  throw new RefusedOnShapedQueue(`the priority ${priority}`, 'use 1 (first) to 10 (last)');
}

/** A backend factory for BullMQ's `Queue`, whose name is the tenant: `new Queue(encodeTenant(tenant), opts, factory)`. */
export function shapedBackendFactory(parts: ShapedQueueParts, type: string): BackendFactory<ShapedBackend> {
  return (name, opts) => new ShapedBackend(parts, type, decodeTenant(name), opts);
}

/** BullMQ's arguments as it would send them itself: nothing stands for the empty text. */
function asArgument(value: unknown): Argument {
  if (typeof value === 'string' || typeof value === 'number' || Buffer.isBuffer(value)) return value;
  return value === undefined || value === null ? '' : String(value);
}

import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { DEFAULT_PROFILE, type Profile } from '../../src/model/profile.js';
import { encodeTenant, type ShardTag, shardTag } from '../../src/redis/keys.js';
import { type Argument, runScript, type Script } from '../../src/redis/script.js';
import { formatOptions } from '../../src/shaping/job-options.js';
import { profileBytes } from '../../src/shaping/profile-bytes.js';
import {
  type AdmitAnswer,
  type AdmitAnswered,
  type AdmitVerdict,
  type Dispatched,
  scripts,
} from '../../src/shaping/scripts.js';
import { scripts as surveyScripts } from '../../src/shaping/survey-scripts.js';
import { type Outcome, outcomeArguments } from '../../src/shaping/work-source.js';
import { bucketOf, typeOf } from './stored-state.js';

/** A job to be admitted; everything but the id has a default. `priority` is the API's: 0 first, 9 last, default 4. */
export interface JobSpec {
  readonly id: string;
  readonly priority?: number;
  readonly delayMs?: number;
  readonly cost?: number;
  readonly data?: string;
  /** Wall-clock milliseconds since 1970. */
  readonly startByMs?: number;
  readonly idempotencyKey?: string;
  /** Stands for the digest of the request. */
  readonly digest?: string;
  readonly requestId?: string;
  /** Wall-clock milliseconds since 1970. */
  readonly runAtMs?: number;
  /** Who wants to be told of its end: see lua/lib/outbox.lua. */
  readonly hook?: string;
}

/** A request of one bucket; its profile is the default unless stated, and `closed` says that an earlier part of it closed the door. */
export interface AdmitSpec {
  readonly tenant: string;
  readonly jobs: readonly JobSpec[];
  readonly profile?: Partial<Profile> | '';
  readonly closed?: '' | '1';
}

/** The type as a whole; everything unlimited by default. */
export interface Capacity {
  readonly emissionUs?: number;
  readonly burst?: number;
  readonly concurrency?: number;
  readonly slackUs?: number;
}

/** A job that a worker holds. */
export interface HeldRun {
  readonly token: string;
  readonly tenant: string;
  readonly id: string;
}

export type SettledRun = ReplyOf<'settle'>[number];

type ReplyOf<Verb extends keyof typeof scripts> = ReturnType<(typeof scripts)[Verb]['parse']>;

/** Alters the text of a script. */
export type ChangeScript = (name: string, text: string) => string;

export const EPOCH_MS = Date.UTC(2025, 0, 1);
const START_US = 60_000_000_000_000;

let shards = 0;

/**
 * The real scripts on a real Redis, on keys that no other test uses, with an explicit clock: every call takes place at
 * `nowUs`, which only the test moves. Tenants are plain ids. `change` may alter the text of a script, to see whether a
 * test notices.
 */
export class ScriptShard {
  /** Microseconds since 2025-01-01. */
  nowUs = START_US;
  readonly type: string;
  readonly tag: ShardTag;
  readonly redis: Redis;
  keepAgeMs = 3_600_000;
  keepCount = 1000;
  attempts = 3;
  lockMs = 600_000;
  stepLimit = 100;
  /** How many jobs more may start by what other shards of the type leave; '' when this is the only one. */
  beside: number | '' = '';
  /** Up to where virtual time has come in any shard of the type; '' when this is the only one. */
  floor: number | '' = '';
  readonly #change: ChangeScript | undefined;

  constructor(redis: Redis, change?: ChangeScript) {
    shards += 1;
    this.redis = redis;
    this.type = `t${process.pid}_${shards}`;
    this.tag = shardTag(this.type);
    this.#change = change;
  }

  /** Wall-clock milliseconds since 1970 at `nowUs`. */
  get nowMs(): number {
    return EPOCH_MS + this.nowUs / 1000;
  }

  key(suffix: string): string {
    return `${this.tag}:${suffix}`;
  }

  /** BullMQ's key of a tenant's queue, such as `prioritized`, or the hash of one of its jobs. */
  queueKey(tenant: string, suffix: string): string {
    return `${this.tag}:q:${encodeTenant(tenant)}:${suffix}`;
  }

  bucketKey(tenant: string): string {
    return `${this.tag}:bucket:${encodeTenant(tenant)}`;
  }

  run<Reply>(script: Script<Reply>, argv: readonly Argument[]): Promise<Reply> {
    return runScript(this.redis, { script: this.#changed(script), tag: this.tag, argv });
  }

  async admit(
    tenant: string,
    jobs: readonly JobSpec[],
    profile: Partial<Profile> | '' = {},
    closed: '' | '1' = '',
  ): Promise<AdmitAnswered & { first: AdmitVerdict | undefined }> {
    const [answer] = await this.admitAll([{ tenant, jobs, profile, closed }]);
    if (answer?.kind !== 'answered') throw new Error(answer?.message ?? 'admit said nothing of its request');
    return { ...answer, first: answer.verdicts[0] };
  }

  admitAll(requests: readonly AdmitSpec[]): Promise<AdmitAnswer[]> {
    const argv = requests.flatMap(({ tenant, jobs, profile = {}, closed = '' }) => {
      const text = profile === '' ? '' : textOf(profile);
      const values = jobs.flatMap((job) => this.#jobArguments(job));
      return [encodeTenant(tenant), text, closed, jobs.length, ...values];
    });
    return this.run(scripts.admit, [this.nowUs, this.keepAgeMs, this.keepCount, this.beside, ...argv]);
  }

  dispatch(token: string, permit = ''): Promise<Dispatched> {
    const argv = [this.nowUs, token, this.lockMs, this.stepLimit, this.keepAgeMs, this.keepCount, this.floor, permit];
    return this.run(scripts.dispatch, argv);
  }

  async settle(held: HeldRun, outcome: Outcome, next = ''): Promise<SettledRun> {
    const [settled] = await this.settleAll([{ held, outcome, next }]);
    if (!settled) throw new Error('settle said nothing of its run');
    return settled;
  }

  settleAll(runs: readonly { held: HeldRun; outcome: Outcome; next: string }[]): Promise<SettledRun[]> {
    const argv = runs.flatMap(({ held, outcome, next }) => {
      const job = [held.token, encodeTenant(held.tenant), held.id];
      return [...job, ...outcomeArguments(outcome), next];
    });
    const keep = [this.keepAgeMs, this.keepCount];
    return this.run(scripts.settle, [
      this.nowUs,
      this.attempts,
      ...keep,
      this.lockMs,
      this.stepLimit,
      this.floor,
      ...argv,
    ]);
  }

  async charge(token: string, cost: number): Promise<boolean> {
    return (await this.run(scripts.charge, [this.nowUs, token, cost])).isHeld;
  }

  cancel(tenant: string, id: string): Promise<ReplyOf<'cancel'>> {
    return this.run(scripts.cancel, [this.nowUs, encodeTenant(tenant), id, this.keepAgeMs, this.keepCount]);
  }

  retry(tenant: string, ids: readonly string[], profile: Partial<Profile> | '' = ''): Promise<ReplyOf<'retry'>> {
    const text = profile === '' ? '' : textOf(profile);
    return this.run(scripts.retry, [this.nowUs, encodeTenant(tenant), text, ...ids]);
  }

  retime(tenant: string, profile: Partial<Profile>): Promise<boolean> {
    return this.run(scripts.retime, [this.nowUs, encodeTenant(tenant), textOf(profile)]);
  }

  pause(tenant: string, stopped: boolean): Promise<unknown> {
    return this.run(scripts.pause, [this.nowUs, encodeTenant(tenant), stopped ? '1' : '0']);
  }

  configure(capacity: Capacity, format = 1, shards = 1, permits: '' | '1' = ''): Promise<ReplyOf<'configure'>> {
    const { emissionUs = 0, burst = 1, concurrency = 1e15, slackUs = 25_000 } = capacity;
    return this.run(scripts.configure, [this.nowUs, format, emissionUs, burst, concurrency, slackUs, shards, permits]);
  }

  recover(maxStalled: number, cursor = '0', count = 1000): Promise<ReplyOf<'recover'>> {
    return this.run(scripts.recover, [
      this.nowUs,
      cursor,
      count,
      maxStalled,
      this.keepAgeMs,
      this.keepCount,
      this.floor,
    ]);
  }

  sweep(tenants = 100, jobs = 100): Promise<ReplyOf<'sweep'>> {
    return this.run(scripts.sweep, [this.nowUs, tenants, jobs, this.keepAgeMs, this.keepCount, this.floor]);
  }

  renew(tokens: readonly string[]): Promise<ReplyOf<'renew'>> {
    return this.run(scripts.renew, [this.lockMs, ...tokens]);
  }

  read(tenant: string, id: string, scan = 1000): Promise<ReplyOf<'read'>> {
    return this.run(scripts.read, [this.nowUs, encodeTenant(tenant), id, scan, '1', this.beside]);
  }

  quote(
    tenant: string,
    jobs: { readonly count: number; readonly priority: number; readonly cost: number },
    profile: Partial<Profile> | '',
  ): Promise<ReplyOf<'quote'>> {
    const text = profile === '' ? '' : textOf(profile);
    const { count, priority, cost } = jobs;
    return this.run(scripts.quote, [this.nowUs, encodeTenant(tenant), text, priority + 1, cost, count, this.beside]);
  }

  stats(): Promise<ReplyOf<'stats'>> {
    return this.run(scripts.stats, [this.nowUs]);
  }

  inspect(tenant: string): Promise<ReplyOf<'inspect'>> {
    return this.run(scripts.inspect, [this.nowUs, encodeTenant(tenant)]);
  }

  survey(tenants: readonly string[]): Promise<ReturnType<(typeof surveyScripts)['survey']['parse']>> {
    return this.run(surveyScripts.survey, [this.nowUs, ...tenants.map(encodeTenant)]);
  }

  tally(counts: Readonly<Record<string, number | string>>, most = 100): Promise<number> {
    return this.run(surveyScripts.tally, [this.nowUs, 120_000, most, ...Object.entries(counts).flat()]);
  }

  tallies(slots: number): Promise<ReturnType<(typeof surveyScripts)['tallies']['parse']>> {
    return this.run(surveyScripts.tallies, [this.nowUs, slots]);
  }

  page(
    tenant: string,
    state: string,
    options: { after?: readonly [string, string]; limit?: number; scan?: number } = {},
  ) {
    const { after = ['', ''], limit = 100, scan = 1000 } = options;
    return this.run(scripts.page, [encodeTenant(tenant), state, ...after, limit, scan]);
  }

  /** Dispatches under `token` and answers which job that was: `tenant id`, or what the wait is. */
  async take(token: string): Promise<string> {
    const found = await this.dispatch(token);
    return found.kind === 'job' ? `${found.tenant} ${found.id}` : `nothing for ${found.waitUs ?? 'ever'} µs`;
  }

  /** A number of the type's state, 0 when there is none. */
  async typeField(name: string): Promise<number> {
    return typeOf(await this.redis.hgetBuffer(this.key('type'), 's'))(name);
  }

  /** A number of a bucket's state, 0 when there is none. */
  async bucketField(tenant: string, name: string): Promise<number> {
    return bucketOf(await this.redis.getBuffer(this.bucketKey(tenant)))(name);
  }

  /** Ids of the jobs of a queue that wait, in the order in which they will start. */
  waiting(tenant: string): Promise<string[]> {
    return this.redis.zrange(this.queueKey(tenant, 'prioritized'), 0, -1);
  }

  /** A lock that ran out, as after its worker's death. */
  async dropLock(tenant: string, id: string): Promise<void> {
    await this.redis.del(`${this.queueKey(tenant, id)}:lock`);
  }

  /** Every key of this shard, in order. */
  async keys(): Promise<string[]> {
    const found = await this.redis.keys(`${this.tag.replace(/[[\]*?]/g, '\\$&')}:*`);
    return found.map((key) => key.slice(this.tag.length + 1)).sort();
  }

  #jobArguments(job: JobSpec): Argument[] {
    const { id, delayMs = 0, cost = 1, data = '{}', idempotencyKey = '', digest = 'digest', requestId = '' } = job;
    const priority = (job.priority ?? 4) + 1;
    const options = formatOptions({ priority, delayMs, attempts: this.attempts });
    const rest = [job.startByMs ?? '', requestId, job.runAtMs ?? '', job.hook ?? ''];
    return [id, 'type', priority, delayMs, cost, data, options, idempotencyKey, digest, ...rest];
  }

  #changed<Reply>(script: Script<Reply>): Script<Reply> {
    if (!this.#change) return script;
    const changed = this.#change('library', script.library.text);
    const mark = createHash('sha1').update(changed).digest('hex').slice(0, 12);
    // Names are new too, so that it stands beside the original.
    const was = script.library.name.replace('headgate_', '');
    const library = { ...script.library, name: `headgate_${mark}`, text: changed.replaceAll(was, mark) };
    return { ...script, library, function: script.function.replace(was, mark) };
  }
}

function textOf(profile: Partial<Profile>): Buffer {
  return profileBytes({ ...DEFAULT_PROFILE, ...profile });
}

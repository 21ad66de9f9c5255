import { isDeepStrictEqual } from 'node:util';
import { DEFAULT_PROFILE, emissionUs, type Profile } from '../../../src/model/profile.js';
import type { RunOutcome } from '../../../src/model/scheduler/end-run.js';
import type { BucketTerms } from '../../../src/model/scheduler/terms.js';
import { wholeUs } from '../../../src/model/scheduler/whole-us.js';
import { Scheduler } from '../../../src/model/scheduler.js';
import { paceOf } from '../../../src/shaping/profile-bytes.js';
import type { AdmitAnswer, Dispatched } from '../../../src/shaping/scripts.js';
import type { Outcome } from '../../../src/shaping/work-source.js';
import { EPOCH_MS, type JobSpec, type ScriptShard } from '../script-shard.js';
import { type Command, type Offered, type Requested, type RunEnd, TENANTS } from './commands.js';
import { shotOfModel, shotOfRedis, withoutTheForgettable } from './snapshot.js';

interface Run {
  readonly token: string;
  readonly tenant: string;
  readonly id: string;
}

interface End {
  readonly run: Run;
  readonly outcome: RunOutcome;
  /** Token for the next job of its slot, if it asks for one. */
  readonly next: string | undefined;
}

/** A reply of both sides to one command. */
interface Replies {
  readonly redis: unknown;
  readonly model: unknown;
}

const UNHEARD_OF = { tenant: 'a', id: 'unheard-of' };
const [SWEPT_TENANTS, SWEPT_JOBS] = [100, 100];
const NO_REPLY: Replies = { redis: undefined, model: undefined };

/** The model and the scripts say different things. */
export class Disagreement extends Error {}

/**
 * The model and the real scripts, side by side: every command goes to both, at the same explicit instant, and every reply
 * and all state are compared.
 */
export class Twins {
  readonly #shard: ScriptShard;
  readonly #sweeps: boolean;
  readonly #model = new Scheduler();
  readonly #known: Run[] = [];
  readonly #forgotten = new Set<string>();
  #runs: Run[] = [];
  readonly #lost: Run[] = [];
  #tokens = 0;
  #ids = 0;
  #last: (() => Promise<Replies>) | undefined;

  /** @param sweeps Whether results are removed on the way: then what came before a pass of time is not repeated. */
  constructor(shard: ScriptShard, sweeps: boolean) {
    this.#shard = shard;
    this.#sweeps = sweeps;
  }

  /** Carries out one command. Throws {@link Disagreement} when the two differ. */
  async step(command: Command): Promise<void> {
    const { redis, model } = await this.#carryOut(command);
    if (!alike(redis, model)) throw new Disagreement(describe('the reply', redis, model));
    const { absent, ...shot } = await shotOfRedis(this.#shard, TENANTS);
    for (const tenant of absent) this.#forgotten.add(tenant);
    const real = withoutTheForgettable(shot, this.#forgotten);
    const expected = withoutTheForgettable(shotOfModel(this.#model, TENANTS), this.#forgotten);
    if (!isDeepStrictEqual(real, expected)) throw new Disagreement(describe('the state', real, expected));
  }

  async #carryOut(command: Command): Promise<Replies> {
    const shard = this.#shard;
    const model = this.#model;
    const now = shard.nowUs;
    switch (command.verb) {
      case 'pass':
        shard.nowUs += command.us;
        if (this.#sweeps) this.#last = undefined;
        return NO_REPLY;
      case 'approach':
        shard.nowUs = this.#nextInstant() + command.byUs;
        if (this.#sweeps) this.#last = undefined;
        return NO_REPLY;
      case 'admit':
        return this.#admit(command.requests);
      case 'dispatch':
        return this.#repeatable(this.#dispatch(command.limit));
      case 'settle': {
        const ends = this.#endsOf(command.ends);
        return ends.length > 0 ? this.#repeatable(this.#settle(ends, command.limit)) : NO_REPLY;
      }
      case 'settle-lost': {
        const run = pickOf(this.#lost, command.pick);
        return run ? this.#settle([{ run, outcome: { kind: 'completed' }, next: undefined }], 100)() : NO_REPLY;
      }
      case 'repeat':
        return (await this.#last?.()) ?? NO_REPLY;
      case 'charge': {
        const { token } = pickOf([...this.#runs, ...this.#runs, ...this.#lost], command.pick) ?? { token: 'none' };
        return { redis: await shard.charge(token, command.cost), model: model.charge(now, token, command.cost) };
      }
      case 'cancel': {
        // Mostly one that can still be cancelled.
        const living = this.#known.filter((known) => this.#lives(known));
        const job = pickOf(command.pick % 5 === 0 ? this.#known : living, command.pick) ?? UNHEARD_OF;
        const [redis, reply] = [await shard.cancel(job.tenant, job.id), model.cancel(now, job.tenant, job.id)];
        // A result may have been swept, which the model does not do.
        return { redis: redis === 'not_found' && reply === 'already_ended' ? reply : redis, model: reply };
      }
      case 'retime': {
        const redis = await shard.retime(command.tenant, command.profile);
        return { redis, model: model.retime(now, command.tenant, termsOf(command.profile)) };
      }
      case 'pause':
        await shard.pause(command.tenant, command.stopped);
        model.pause(now, command.tenant, command.stopped);
        return NO_REPLY;
      case 'configure': {
        const { emissionUs = 0, burst = 1, concurrency = 1e15, slackUs = 25_000 } = command.capacity;
        model.configure(now, { emissionUs, burst, concurrency, slackUs });
        return { redis: await shard.configure(command.capacity), model: { kind: 'ok' } };
      }
      case 'recover':
        return this.#recover(command.mask, command.maxStalled);
      case 'read':
        return this.#read(command.pick);
      case 'inspect':
        return this.#inspect(command.tenant);
      case 'sweep':
        return this.#sweep();
    }
  }

  async #admit(requests: readonly Requested[]): Promise<Replies> {
    const shard = this.#shard;
    const specs = requests.map(({ tenant, profile, jobs }) => ({ tenant, profile, jobs: this.#specsOf(tenant, jobs) }));
    const answers = await shard.admitAll(specs);
    const model = specs.map(({ tenant, profile, jobs }) => ({
      ...{ kind: 'answered', unixMs: 0 },
      ...this.#model.admit(shard.nowUs, tenant, termsOf(profile), jobs.map(offerOf)),
    }));
    const known = new Set(this.#known.map(({ id }) => id));
    for (const { tenant, jobs } of specs) {
      for (const { id } of jobs) if (!known.has(id)) this.#known.push({ token: '', tenant, id });
    }
    return { redis: answers.map(withoutClock), model };
  }

  #specsOf(tenant: string, jobs: readonly Offered[]): JobSpec[] {
    const ofTenant = this.#known.filter((job) => job.tenant === tenant && this.#lives(job));
    return jobs.map((job) => {
      const again = job.replayOf === undefined ? undefined : pickOf(ofTenant, job.replayOf);
      const id = again?.id ?? this.#newId();
      const { priority, cost, delayMs, bytes, startByMs } = job;
      const data = 'x'.repeat(bytes);
      const startBy = startByMs === undefined ? {} : { startByMs: Math.floor(this.#shard.nowMs) + startByMs };
      return { id, priority, cost, delayMs, data, ...startBy };
    });
  }

  #dispatch(limit: number): () => Promise<Replies> {
    const token = this.#newToken();
    return async () => {
      const { nowUs } = this.#shard;
      this.#shard.stepLimit = limit;
      const redis = whoOf(await this.#shard.dispatch(token));
      const model = this.#model.dispatch(nowUs, token, limit);
      this.#note(token, model);
      return { redis, model };
    };
  }

  /** Each run ends once in a call. */
  #endsOf(ends: readonly RunEnd[]): End[] {
    const left = [...this.#runs];
    return ends.flatMap(({ pick, outcome, next }) => {
      const run = pickOf(left, pick);
      if (!run) return [];
      left.splice(left.indexOf(run), 1);
      return [{ run, outcome, next: next ? this.#newToken() : undefined }];
    });
  }

  #settle(ends: readonly End[], limit: number): () => Promise<Replies> {
    return async () => {
      const { nowUs } = this.#shard;
      this.#shard.stepLimit = limit;
      const redis = await this.#shard.settleAll(
        ends.map(({ run, outcome, next }) => ({ held: run, outcome: outcomeOf(outcome), next: next ?? '' })),
      );
      const model = ends.map(({ run, outcome, next }) => {
        const settled = this.#model.settle(nowUs, { ...run, outcome }, limit, next);
        this.#runs = this.#runs.filter(({ token }) => token !== run.token);
        if (next !== undefined) this.#note(next, settled.next);
        return settled;
      });
      return { redis: redis.map(({ verdict, next }) => ({ verdict, next: whoOf(next) })), model };
    };
  }

  /** The reply may get lost: the very same command comes again, at once. */
  #repeatable(send: () => Promise<Replies>): Promise<Replies> {
    this.#last = send;
    return send();
  }

  async #recover(mask: number, maxStalled: number): Promise<Replies> {
    const stalled = this.#runs.filter((_, i) => (mask >> (i % 8)) & 1);
    for (const { tenant, id } of stalled) await this.#shard.dropLock(tenant, id);
    const { returnedIds, endedIds } = await this.#shard.recover(maxStalled);
    const jobs = this.#model.recover(
      this.#shard.nowUs,
      stalled.map(({ token }) => token),
      maxStalled,
    );
    this.#last = undefined;
    this.#lost.push(...stalled);
    this.#runs = this.#runs.filter((run) => !stalled.includes(run));
    const ids = (waits: boolean) => jobs.filter(({ state }) => (state === 'waiting') === waits).map(({ id }) => id);
    return { redis: [returnedIds.sort(), endedIds.sort()], model: [ids(true).sort(), ids(false).sort()] };
  }

  async #read(pick: number): Promise<Replies> {
    const job = pickOf(
      this.#known.filter((known) => this.#lives(known)),
      pick,
    );
    if (!job) return NO_REPLY;
    const redis = await this.#shard.read(job.tenant, job.id);
    const promised = this.#model.promiseOf(this.#shard.nowUs, job.tenant, job.id);
    const model = { state: this.#model.state.job(job.tenant, job.id)?.state, ...promised };
    const { state, position, waitUs, basis, between } = redis ?? {};
    const waits = promised ? { position, waitUs, basis, between } : {};
    return { redis: { state, ...waits }, model: withoutOwn(model) };
  }

  async #inspect(tenant: string): Promise<Replies> {
    const { waiting, delayed, running, waitingBytes, waitingCost } = await this.#shard.inspect(tenant);
    const { backlog, active } = this.#model.state.bucket(tenant);
    return {
      redis: { waiting, delayed, running, waitingBytes, waitingCost: Math.round(waitingCost * 1e6) },
      model: {
        waiting: backlog.waiting.length,
        delayed: backlog.delayed.length,
        running: active.size,
        waitingBytes: backlog.bytes,
        waitingCost: Math.round(backlog.waiting.reduce((sum, { cost }) => sum + cost, 0) * 1e6),
      },
    };
  }

  /** When something falls due or expires next, by the clock that both are told; now when nothing does. */
  #nextInstant(): number {
    const { schedule, jobs, clock, type } = this.#model.state;
    const instants = [
      type.heldUntilUs,
      ...schedule.due.values(),
      ...[...jobs.values()].map(({ startByUs }) => startByUs ?? Infinity),
    ];
    const next = Math.min(...instants.filter((us) => us > clock.nowUs && us < Infinity));
    return next === Infinity ? this.#shard.nowUs : Math.ceil(next) - clock.offsetUs;
  }

  #lives({ tenant, id }: Run): boolean {
    const state = this.#model.state.job(tenant, id)?.state;
    return state === 'waiting' || state === 'delayed' || state === 'active';
  }

  /** A sweep also puts the buckets that it looks at in their place, as any touch does; the model is told which. */
  async #sweep(): Promise<Replies> {
    const { state } = this.#model;
    await this.#shard.sweep(SWEPT_TENANTS, SWEPT_JOBS);
    state.advance(this.#shard.nowUs);
    state.expireOverdue(SWEPT_JOBS);
    state.schedule.rest(state.runs.size);
    const ready = new Set(await this.#shard.redis.zrange(this.#shard.key('ready'), 0, -1));
    for (const bucket of state.schedule.ripe(state.nowUs, Infinity)) if (ready.has(bucket.tenant)) state.place(bucket);
    return NO_REPLY;
  }

  #newId(): string {
    this.#ids += 1;
    return `job-${String(this.#ids).padStart(6, '0')}`;
  }

  #newToken(): string {
    this.#tokens += 1;
    return `token-${this.#tokens}`;
  }

  #note(token: string, dispatched: { readonly kind: string; readonly tenant?: string; readonly id?: string }): void {
    const { tenant, id } = dispatched;
    if (tenant === undefined || id === undefined || this.#runs.some((run) => run.token === token)) return;
    this.#runs.push({ token, tenant, id });
  }
}

/** A profile in the units of the arithmetic. */
export function termsOf(stated: Partial<Profile>): BucketTerms {
  const profile = { ...DEFAULT_PROFILE, ...stated };
  const { weight, concurrency, depth, maxBytes, maxWaitMs, mode } = profile;
  const pace = { ...paceOf(profile), emissionUs: emissionUs(profile.ratePerSecond) };
  return { pace, weight, concurrency, depth, maxBytes, maxWaitUs: maxWaitMs * 1000, mode };
}

function offerOf({ id, priority = 4, cost = 1, delayMs = 0, data = '', startByMs }: JobSpec) {
  const startBy = startByMs === undefined ? {} : { startByUs: (startByMs - EPOCH_MS) * 1000 };
  return { id, priority, cost, bytes: data.length, delayMs, ...startBy };
}

function outcomeOf(outcome: RunOutcome): Outcome {
  if (outcome.kind === 'retry' || outcome.kind === 'busy') return { ...outcome, value: 'again' };
  return { kind: outcome.kind, value: '1' };
}

function whoOf(dispatched: Dispatched) {
  if (dispatched.kind === 'nothing') return dispatched;
  const { kind, tenant, id } = dispatched;
  return { kind, tenant, id };
}

function withoutOwn<Promise extends { ownWaitUs?: number; waitUs?: number; guess?: unknown }>(model: Promise) {
  const { ownWaitUs: _, guess: __, ...rest } = model;
  return rest.waitUs === undefined ? rest : { ...rest, waitUs: wholeUs(rest.waitUs) };
}

function pickOf<Item>(items: readonly Item[], pick: number): Item | undefined {
  return items[pick % items.length];
}

/** Equal, but that waits may differ by the microsecond that a sum of decimal costs is rounded up by. */
function alike(one: unknown, other: unknown): boolean {
  if (typeof one === 'number' && typeof other === 'number') return Math.abs(one - other) <= 1;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  const [oneParts, otherParts] = [Object.entries(one), new Map(Object.entries(other))];
  return oneParts.length === otherParts.size && oneParts.every(([name, part]) => alike(part, otherParts.get(name)));
}

/** The model has no clock of its own. */
function withoutClock(answer: AdmitAnswer): unknown {
  return answer.kind === 'answered' ? { ...answer, unixMs: 0 } : answer;
}

function describe(what: string, redis: unknown, model: unknown): string {
  return `${what} differs\n  scripts: ${JSON.stringify(redis)}\n  model:   ${JSON.stringify(model)}`;
}

import { type Capacity, DEFAULT_CAPACITY } from '../../src/model/profile.js';
import { queuePrefix, scheduleKeys } from '../../src/redis/keys.js';
import { Shards } from '../../src/redis/shards.js';
import { Subscriber } from '../../src/redis/subscriber.js';
import { openTypeSource } from '../../src/shaping/open-type-source.js';
import type { Start } from '../model/judges/envelope.js';
import type { ClockedRedis, ShardClocks } from './clocked-redis.js';
import { ShapedType } from './shaped-type.js';
import { TrialProcess } from './trial-process.js';

export const SECOND = 1e6;
/** What runs and is held by nobody loses its lock so much later. */
const LOCK_US = 3 * SECOND;
/** A permit that was given may be used for so long, and does not go with the slots that were taken away. */
const VALID_US = 250_000;
/** Where a trial never comes to its end, it is given up. */
const MOST_STEPS = 5000;

export interface TrialOptions {
  readonly capacity: Partial<Capacity>;
  readonly shards: number;
  readonly processes: number;
  /** Of each process. */
  readonly slots: number;
  readonly slackUs?: number;
}

/** Something that happens at an instant from the beginning. */
export type Happening = { readonly atUs: number } & (
  | { readonly what: 'come'; readonly shard: number; readonly jobs: number; readonly cost: number }
  | { readonly what: 'change'; readonly capacity: Partial<Capacity> }
  | { readonly what: 'kill'; readonly process: number }
  | { readonly what: 'late calls come' }
);

/**
 * Processes that serve a type over its shards: the real sources, desks and scripts, at explicit instants, with calls that take
 * time and mishaps on their way. What runs is read from the shards themselves, after every act.
 */
export class CapacityTrial {
  readonly starts: Start[] = [];
  /** The most by which what ran in all shards exceeded the slots of the type as something started; at most 0 when it never did. */
  overSlots = -Infinity;
  readonly ended = new Set<string>();
  readonly type: ShapedType;
  readonly shards: Shards;
  readonly #redis: ClockedRedis;
  readonly #clocks: ShardClocks;
  readonly #workUs: number;
  readonly #capacity: Record<keyof Capacity, number>;
  readonly #processes: readonly TrialProcess[];
  readonly #beginUs: number;
  readonly #seen = new Map<string, number>();
  /** Slots of the type, and until when they may be used still. */
  #slots: { readonly count: number; untilUs: number }[];
  #admitted = 0;

  /** @param workUs How long a job runs. */
  constructor(redis: ClockedRedis, clocks: ShardClocks, workUs: number, options: TrialOptions) {
    const { slots, shards, processes, slackUs } = options;
    this.#redis = redis;
    this.#clocks = clocks;
    this.#workUs = workUs;
    this.#beginUs = clocks.nowUs;
    this.shards = new Shards(shards);
    this.#capacity = { ...DEFAULT_CAPACITY, ...options.capacity };
    this.#slots = [{ count: this.#capacity.concurrency, untilUs: Infinity }];
    const own = { capacity: this.#capacity, ...(slackUs === undefined ? {} : { slackUs }) };
    this.type = new ShapedType(redis, own, shards);
    this.#processes = Array.from({ length: processes }, (_, i) => {
      const source = openTypeSource(redis, this.type.name, this.type.settings, { worker: `w${i}`, lockMs: 600_000 });
      return new TrialProcess(source, { slots, workUs, clocks, onEnd: (id) => this.ended.add(id) });
    });
  }

  /** Lives through what happens, until every job has ended. How long that took, µs; `Infinity` where it never came to that. */
  async live(happenings: readonly Happening[]): Promise<number> {
    const messages = this.#redis.duplicate({ connectionName: 'messages' });
    const subscriber = new Subscriber(messages);
    const stops = this.#processes.map((each) => each.source.listen(subscriber, () => each.wake()));
    await new Promise<void>((resolve) => subscriber.onSubscribed(resolve));
    try {
      await this.#configure();
      return await this.#liveThrough(happenings, () => messages.ping());
    } finally {
      for (const stop of stops) stop();
      messages.disconnect();
    }
  }

  async #liveThrough(happenings: readonly Happening[], hearAll: () => Promise<unknown>): Promise<number> {
    const coming = happenings.toSorted((one, other) => other.atUs - one.atUs);
    for (let step = 0; step < MOST_STEPS; step += 1) {
      const next = coming.at(-1);
      if (next === undefined && this.ended.size === this.#admitted) return this.#clocks.nowUs - this.#beginUs;
      const happensAt = next === undefined ? Infinity : this.#beginUs + next.atUs;
      const atUs = Math.min(happensAt, ...this.#living.map((each) => each.nextUs));
      this.#clocks.nowUs = Math.max(this.#clocks.nowUs, atUs);
      if (next !== undefined && atUs === happensAt) {
        coming.pop();
        await this.#happen(next);
      } else {
        await Promise.all(this.#living.flatMap((each) => each.due()));
      }
      await hearAll();
      await this.#look();
    }
    return Infinity;
  }

  get #living(): readonly TrialProcess[] {
    return this.#processes.filter(({ isDead }) => !isDead);
  }

  async #happen(happening: Happening): Promise<void> {
    switch (happening.what) {
      case 'come': {
        const { shard, jobs, cost } = happening;
        this.#admitted += jobs;
        await calmly(this.#redis, () => this.type.fill(`${this.#tenantOf(shard)}.${cost}`, jobs, { cost }));
        return;
      }
      case 'change':
        Object.assign(this.#capacity, DEFAULT_CAPACITY, happening.capacity);
        await this.#configure();
        for (const slots of this.#slots) slots.untilUs = Math.min(slots.untilUs, this.#clocks.nowUs + VALID_US);
        this.#slots.push({ count: this.#capacity.concurrency, untilUs: Infinity });
        for (const each of this.#living) each.wake();
        return;
      case 'kill': {
        const victim = this.#processes[happening.process];
        if (victim && this.#living.length > 1) victim.isDead = true;
        return;
      }
      case 'late calls come':
        return this.#redis.letLateCallsCome();
    }
  }

  async #configure(): Promise<void> {
    await calmly(this.#redis, async () => {
      for (const each of this.#living) await each.source.configure();
    });
  }

  /** A name that stands in a shard whatever cost is written behind it. */
  #tenantOf(shard: number): string {
    for (let i = 0; ; i += 1) {
      const name = `t${i}`;
      if (COSTS.every((cost) => this.shards.of(`${name}.${cost}`) === shard)) return name;
    }
  }

  async #look(): Promise<void> {
    const nowUs = this.#clocks.nowUs;
    const held = new Set(this.#living.flatMap((each) => each.tokens));
    const startsBefore = this.starts.length;
    let running = 0;
    for (const [shard, tag] of this.shards.tags(this.type.name).entries()) {
      for (const [token, entry] of Object.entries(await this.#redis.hgetallBuffer(scheduleKeys(tag).running))) {
        running += 1;
        const [tenant = '', id = ''] = entry.toString('latin1').split(' ');
        const seenAt = this.#seen.get(token);
        if (seenAt === undefined) {
          this.#seen.set(token, nowUs);
          // lua/lib/running_job.lua: when it started, by the clock of the shard.
          const atUs = entry.readDoubleLE(entry.length - 8) - (this.#clocks.of(shard) - nowUs);
          this.starts.push({ atUs, cost: Number(tenant.slice(tenant.indexOf('.') + 1)) });
        } else if (!held.has(token) && nowUs - seenAt > LOCK_US + this.#workUs) {
          await this.#redis.del(`${queuePrefix(tag)}:${tenant}:${id}:lock`);
        }
      }
    }
    const slots = Math.max(...this.#slots.filter(({ untilUs }) => untilUs >= nowUs).map(({ count }) => count));
    if (this.starts.length > startsBefore) this.overSlots = Math.max(this.overSlots, running - slots);
  }
}

/** Costs of jobs, which stand in the names of their tenants. */
export const COSTS = [1, 0.5, 2, 3] as const;

async function calmly<Answer>(redis: ClockedRedis, act: () => Promise<Answer>): Promise<Answer> {
  const { conditions } = redis;
  redis.conditions = { ...conditions, mishap: () => 'none' };
  try {
    return await act();
  } finally {
    redis.conditions = conditions;
  }
}

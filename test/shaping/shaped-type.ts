import type { Redis } from 'ioredis';
import { DEFAULT_CAPACITY, DEFAULT_PROFILE, type Profile } from '../../src/model/profile.js';
import type { NewJob } from '../../src/model/verdict.js';
import { newJobId } from '../../src/shaping/job-id.js';
import { RedisShaping } from '../../src/shaping/redis-shaping.js';
import type { Settings, TypeSettings } from '../../src/shaping/settings.js';
import { type Held, type Outcome, WorkSource } from '../../src/shaping/work-source.js';

let types = 0;

/**
 * A type that no other test uses, on a real Redis, with the server's clock: its door, and its jobs as a worker would take
 * them. Profiles may be changed under way; every tenant without one has no limit.
 */
export class ShapedType {
  readonly name: string;
  readonly redis: Redis;
  readonly settings: Settings;
  readonly shaping: RedisShaping;
  readonly work: WorkSource;
  readonly profiles = new Map<string, Partial<Profile>>();

  constructor(redis: Redis, options: Partial<TypeSettings> = {}) {
    types += 1;
    this.name = `t${types}`;
    this.redis = redis;
    const keepResults = { ageMs: 3_600_000, count: 1000 };
    const type: TypeSettings = { capacity: DEFAULT_CAPACITY, keepResults, attempts: 3, ...options };
    this.settings = {
      type: (name) => (name === this.name ? type : undefined),
      typeNames: () => [this.name],
      profile: (_, tenant) => ({ ...DEFAULT_PROFILE, ratePerSecond: Infinity, ...this.profiles.get(tenant) }),
    };
    this.shaping = new RedisShaping(redis, this.settings);
    this.work = new WorkSource(redis, this.name, type, { worker: 'w', lockMs: 30_000 });
  }

  newJob(job: Partial<NewJob> = {}): NewJob {
    return { id: newJobId(this.name), data: '{}', priority: 4, delayMs: 0, cost: 1, ...job };
  }

  /** Admits `count` jobs alike and answers their ids. */
  async fill(tenant: string, count: number, job: Partial<NewJob> = {}): Promise<string[]> {
    const jobs = Array.from({ length: count }, () => this.newJob(job));
    await this.shaping.admit(this.name, tenant, jobs);
    return jobs.map(({ id }) => id);
  }

  async take(): Promise<Held> {
    const token = this.work.newToken();
    const taken = await this.work.dispatch(token);
    if (taken.kind !== 'job') throw new Error(`nothing to run for ${taken.waitUs} µs`);
    return { token, tenant: taken.tenant, id: taken.id };
  }

  /** Takes the next job and ends it. */
  async runOne(outcome: Outcome = { kind: 'completed', value: '1' }): Promise<string> {
    const held = await this.take();
    await this.work.settle(held, outcome);
    return held.id;
  }

  /** How long until the next job of any bucket may be taken, in microseconds; `null`: until an event. */
  async waitUs(): Promise<number | null> {
    const taken = await this.work.dispatch(this.work.newToken());
    if (taken.kind === 'job') throw new Error(`${taken.id} was ready`);
    return taken.waitUs;
  }
}

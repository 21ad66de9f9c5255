import { DEFAULT_CAPACITY, DEFAULT_PROFILE, type Profile } from '../../src/model/profile.js';
import type { NewJob } from '../../src/model/verdict.js';
import type { RedisLink } from '../../src/redis/connection.js';
import { Shards } from '../../src/redis/shards.js';
import { newJobId } from '../../src/shaping/job-id.js';
import { openTypeSource } from '../../src/shaping/open-type-source.js';
import { RedisShaping } from '../../src/shaping/redis-shaping.js';
import type { Settings, TypeSettings } from '../../src/shaping/settings.js';
import type { TypeSource } from '../../src/shaping/type-source.js';
import { type Held, type Outcome, WorkSource } from '../../src/shaping/work-source.js';

let types = 0;

/**
 * A type that no other test uses, on a real Redis, with the server's clock: its door, and its jobs as a worker would take
 * them. Profiles may be changed under way; every tenant without one has no limit.
 */
export class ShapedType {
  readonly name: string;
  readonly redis: RedisLink;
  readonly settings: Settings;
  readonly shaping: RedisShaping;
  /** Its only shard, or the first of several. */
  readonly work: WorkSource;
  /** All of them. */
  readonly source: TypeSource;
  readonly profiles = new Map<string, Partial<Profile>>();

  constructor(redis: RedisLink, options: Partial<TypeSettings> = {}, shards = 1) {
    types += 1;
    this.name = `t${types}`;
    this.redis = redis;
    const keepResults = { ageMs: 3_600_000, count: 1000 };
    const type: TypeSettings = { capacity: DEFAULT_CAPACITY, keepResults, attempts: 3, ...options };
    this.settings = {
      type: (name) => (name === this.name ? type : undefined),
      typeNames: () => [this.name],
      shards: new Shards(shards),
      profile: (_, tenant) => ({ ...DEFAULT_PROFILE, ratePerSecond: Infinity, ...this.profiles.get(tenant) }),
    };
    this.shaping = new RedisShaping(redis, this.settings);
    const own = { worker: 'w', lockMs: 30_000 };
    this.work = new WorkSource(redis, this.name, type, { ...own, shard: { index: 0, count: shards } });
    this.source = openTypeSource(redis, this.name, this.settings, own);
  }

  newJob(job: Partial<NewJob> = {}, tenant = ''): NewJob {
    const id = newJobId(this.name, this.settings.shards.of(tenant));
    return { id, data: '{}', priority: 4, delayMs: 0, cost: 1, ...job };
  }

  /** Admits `count` jobs alike and answers their ids. */
  async fill(tenant: string, count: number, job: Partial<NewJob> = {}): Promise<string[]> {
    const jobs = Array.from({ length: count }, () => this.newJob(job, tenant));
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

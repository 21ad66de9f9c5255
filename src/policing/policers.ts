import type { PolicyConfig } from '../config/policy-config.js';
import type { RedisLink } from '../redis/connection.js';
import { withinDeadline } from './deadline.js';
import { LeasedPolicer } from './leased-policer.js';
import { LocalPolicer } from './local-policer.js';
import type { Unasked } from './outage-policer.js';
import type { Policer } from './policer.js';
import { RedisPolicer } from './redis-policer.js';

/** What is leased takes an answer of Redis to give back. */
const CLOSE_MS = 1000;

/** The policers of a process, one for each policy; those over Redis are one, which asks for calls of all policies together. */
export class Policers {
  readonly #opened = new Set<Policer>();
  readonly #redis: RedisLink | undefined;
  #overRedis: RedisPolicer | undefined;

  constructor(redis: RedisLink | undefined) {
    this.#redis = redis;
  }

  /**
   * The policer of a policy.
   *
   * @throws Error when it needs Redis and there is none.
   */
  of(policy: PolicyConfig): Policer & Partial<Unasked> {
    switch (policy.place) {
      case 'local':
        return this.local(policy);
      case 'leased':
        return this.#own(new LeasedPolicer(this.#redisOf(policy), { leaseMs: policy.leaseMs }));
      case 'redis':
        return this.#sharedPolicer(this.#redisOf(policy));
    }
  }

  /** Keeps the limits of a policy in this process. */
  local({ maxKeys, share }: PolicyConfig): LocalPolicer {
    return this.#own(new LocalPolicer({ maxKeys, share }));
  }

  /** Closes all that were opened. Never rejects, and does not wait long for a Redis that does not answer. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#opened].map((policer) => withinDeadline(closed(policer), CLOSE_MS)));
  }

  #own<Opened extends Policer>(policer: Opened): Opened {
    this.#opened.add(policer);
    return policer;
  }

  #sharedPolicer(redis: RedisLink): RedisPolicer {
    this.#overRedis ??= this.#own(new RedisPolicer(redis, { isCluster: redis.isCluster }));
    return this.#overRedis;
  }

  #redisOf({ name }: PolicyConfig): RedisLink {
    if (this.#redis === undefined) throw new Error(`policy ${name} needs Redis, and there is none`);
    return this.#redis;
  }
}

async function closed(policer: Policer): Promise<void> {
  await policer.close();
}

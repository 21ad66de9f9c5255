import { Redis } from 'ioredis';
import type { Contender } from './contenders.js';
import { bucketOf, type Quota } from './terms.js';

/** A call that others have come before so often in a row is a bug of this bucket. */
const MOST_ATTEMPTS = 100_000;

/**
 * A token bucket without a script, as well as it can be done: WATCH, TIME and HMGET in one round trip, MULTI, HSET, PEXPIRE
 * and EXEC in another, and all of it again when somebody else was faster. A transaction belongs to its connection, so
 * each caller has one of its own.
 */
export async function openMultiExec(socketPath: string, quota: Quota, callers: number): Promise<Contender> {
  const connections = Array.from({ length: callers }, () => new Redis(socketPath));
  const free = [...connections];
  const { burst, ratePerSecond } = bucketOf(quota);

  async function attempt(redis: Redis, key: string): Promise<boolean | 'again'> {
    const [, time, stored] = (await redis.pipeline().watch(key).time().hmget(key, 'tokens', 'at').exec()) ?? [];
    const now = secondsOf(time?.[1]);
    const [tokens, at] = numbersOf(stored?.[1]);
    const left = Math.min(burst, tokens === undefined ? burst : tokens + (now - (at ?? now)) * ratePerSecond);
    if (left < 1) {
      await redis.unwatch();
      return false;
    }
    const lifeMs = Math.ceil((burst / ratePerSecond) * 1000) + 1000;
    const done = await redis
      .multi()
      .hset(key, { tokens: left - 1, at: now })
      .pexpire(key, lifeMs)
      .exec();
    return done === null ? 'again' : true;
  }

  return {
    async decide(key) {
      const redis = free.pop();
      if (redis === undefined) throw new Error('more callers than connections');
      try {
        for (let i = 0; i < MOST_ATTEMPTS; i += 1) {
          const outcome = await attempt(redis, key);
          if (outcome !== 'again') return outcome;
        }
        throw new Error('others were always faster');
      } finally {
        free.push(redis);
      }
    },
    async close() {
      for (const redis of connections) redis.disconnect();
    },
  };
}

function secondsOf(time: unknown): number {
  const [seconds, microseconds] = numbersOf(time);
  return (seconds ?? Number.NaN) + (microseconds ?? Number.NaN) / 1e6;
}

function numbersOf(reply: unknown): (number | undefined)[] {
  if (!Array.isArray(reply)) throw new TypeError('Redis answered something else than a list');
  return reply.map((value: unknown) => (value === null ? undefined : Number(value)));
}

import type { Redis } from 'ioredis';
import { LeasedPolicer } from '../../../src/policing/leased-policer.js';
import type { PolicerKind, StoredKey } from '../kinds.js';

/** Where the process' clock and that of Redis stand at the beginning: they have nothing in common. */
const BEGIN_US = 60_000_123.4;
const REDIS_BEGIN_US = 59_000_000_000_000;

/** A process alone that leases from Redis: it decides as a bucket in Redis would. */
export function leasedKind(server: { readonly redis: Redis }): PolicerKind {
  return {
    name: 'leased',
    algorithm: 'token-bucket',
    async open() {
      const { redis } = server;
      let passedUs = 0;
      const policer = new LeasedPolicer(redis, {
        leaseMs: 1000,
        clock: () => BEGIN_US + passedUs,
        redisClock: () => REDIS_BEGIN_US + passedUs,
      });
      return {
        policer,
        nowUs: () => BEGIN_US + passedUs,
        advance(us) {
          passedUs += us;
        },
        keys: () => storedKeys(redis),
        close: () => policer.close(),
      };
    },
  };
}

/** Every key of a Redis. */
export async function storedKeys(redis: Redis): Promise<StoredKey[]> {
  const keys = await redis.keys('*');
  return Promise.all(keys.map(async (key) => ({ key, ttlMs: await redis.pttl(key) })));
}

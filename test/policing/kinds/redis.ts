import type { Redis } from 'ioredis';
import type { LimitAlgorithm } from '../../../src/model/limit.js';
import { RedisPolicer } from '../../../src/policing/redis-policer.js';
import type { PolicerKind, StoredKey } from '../kinds.js';

/** Some day in 2026, no whole millisecond, and no beginning of any window: microseconds since 2025-01-01. */
const BEGIN_US = 59_123_456_789_013;

const ALGORITHMS: readonly LimitAlgorithm[] = ['token-bucket', 'sliding-window-log', 'sliding-window-counter'];

/** The policer over Redis, once for each algorithm that it knows. */
export function redisKinds(server: { readonly redis: Redis }): readonly PolicerKind[] {
  return ALGORITHMS.map((algorithm) => ({
    name: algorithm,
    algorithm,
    async open() {
      let nowUs = BEGIN_US;
      const policer = new RedisPolicer(server.redis, { now: () => nowUs });
      return {
        policer,
        nowUs: () => nowUs,
        advance(us: number) {
          nowUs += us;
        },
        keys: () => storedKeys(server.redis),
        close: async () => policer.close(),
      };
    },
  }));
}

async function storedKeys(redis: Redis): Promise<StoredKey[]> {
  const keys = await redis.keys('hg:l:*');
  return Promise.all(keys.map(async (key) => ({ key, ttlMs: await redis.pttl(key) })));
}

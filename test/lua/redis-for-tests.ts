import type { Redis } from 'ioredis';
import { afterAll, beforeAll } from 'vitest';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { type ChangeScript, ScriptShard } from './script-shard.js';

/** A private Redis for the tests of this file, and shards on it that share nothing. */
export function redisForTests(): { readonly redis: Redis; shard(change?: ChangeScript): ScriptShard } {
  let server: TestRedis | undefined;
  let client: Redis | undefined;
  beforeAll(async () => {
    server = await startRedis();
    client = server.client();
  });
  afterAll(() => server?.stop());
  const redis = (): Redis => {
    if (!client) throw new Error('no Redis before beforeAll');
    return client;
  };
  return {
    get redis() {
      return redis();
    },
    shard: (change) => new ScriptShard(redis(), change),
  };
}

import { createRequire } from 'node:module';
import type { Redis } from 'ioredis';

/** A store of @fastify/rate-limit; it has none of its own types. */
export interface FastifyStore {
  incr(
    key: string,
    done: (error: Error | null, counted: { readonly current: number; readonly ttl: number } | null) => void,
    windowMs: number,
    max: number,
  ): void;
}

type StoreClass<Arguments extends readonly unknown[]> = new (
  continueExceeding: boolean,
  exponentialBackoff: boolean,
  ...rest: Arguments
) => FastifyStore;

const require = createRequire(import.meta.url);
const RedisStore: StoreClass<[Redis, string]> = require('@fastify/rate-limit/store/RedisStore.js');
const LocalStore: StoreClass<[number]> = require('@fastify/rate-limit/store/LocalStore.js');

export function fastifyRedisStore(redis: Redis): FastifyStore {
  return new RedisStore(false, false, redis, 'fastify-rate-limit-');
}

/** With room for more keys than any measurement has. */
export function fastifyMemoryStore(): FastifyStore {
  return new LocalStore(false, false, 100_000);
}

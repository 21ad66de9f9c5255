import { MemoryStore, rateLimit } from 'express-rate-limit';
import { Redis } from 'ioredis';
import { RedisStore } from 'rate-limit-redis';
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import type { PolicyPlace } from '../../dist/src/config/policy-config.js';
import type { LimitAlgorithm } from '../../dist/src/model/limit.js';
import { LeasedPolicer } from '../../dist/src/policing/leased-policer.js';
import { LocalPolicer } from '../../dist/src/policing/local-policer.js';
import { openPolicing } from '../../dist/src/policing/open-policing.js';
import type { Policer, PolicerVerdict } from '../../dist/src/policing/policer.js';
import type { Decision } from '../../dist/src/policing/policing.js';
import { RedisPolicer } from '../../dist/src/policing/redis-policer.js';
import { subjectOf } from '../../dist/src/policing/subject.js';
import { closeConnection, openConnection, untilReady } from '../../dist/src/redis/connection.js';
import { asReply } from './as-reply.js';
import { fastifyMemoryStore, fastifyRedisStore } from './fastify-stores.js';
import { openMultiExec } from './multi-exec.js';
import { bucketOf, limitOf, policyOf, type Quota } from './terms.js';

/** Something that decides about calls. */
export interface Contender {
  /** Whether the call of a key may go on; a promise where somebody has to be asked. */
  decide(key: string): boolean | Promise<boolean>;
  close(): Promise<void>;
}

export interface Terms {
  readonly socketPath: string;
  readonly quota: Quota;
  /** Calls that may be under way at once. */
  readonly callers: number;
}

type Open = (terms: Terms) => Promise<Contender>;

/** Everything that is compared, by the name that the tables have for it. */
export const CONTENDERS: Readonly<Record<string, Open>> = {
  'token-bucket': headgate('redis'),
  'sliding-window-log': headgate('redis', 'sliding-window-log'),
  'sliding-window-counter': headgate('redis', 'sliding-window-counter'),
  local: headgate('local'),
  leased: headgate('leased'),
  'token-bucket, its policer alone': policer((redis) => new RedisPolicer(redis)),
  'local, its policer alone': policer(() => new LocalPolicer({ maxKeys: 100_000 })),
  'leased, its policer alone': policer((redis) => new LeasedPolicer(redis, { leaseMs: 1000 })),

  'rate-limiter-flexible, Redis': (terms) => flexibleRedis(terms, false),
  'rate-limiter-flexible, Redis, auto-pipelining': (terms) => flexibleRedis(terms, true),
  'rate-limit-redis': (terms) => rateLimitRedis(terms, false),
  'rate-limit-redis, auto-pipelining': (terms) => rateLimitRedis(terms, true),
  '@fastify/rate-limit, Redis': (terms) => fastifyRedis(terms, false),
  '@fastify/rate-limit, Redis, auto-pipelining': (terms) => fastifyRedis(terms, true),
  'MULTI/EXEC': ({ socketPath, quota, callers }) => openMultiExec(socketPath, quota, callers),

  'rate-limiter-flexible, memory': flexibleMemory,
  'express-rate-limit, memory': expressMemory,
  '@fastify/rate-limit, memory': fastifyMemory,
};

/** A policy, asked as a program that imports Headgate asks it. */
function headgate(place: PolicyPlace, algorithm: LimitAlgorithm = 'token-bucket'): Open {
  return async ({ socketPath, quota }) => {
    const redis = place === 'local' ? undefined : openConnection({ socketPath }, { name: 'bench', deadlineMs: 5000 });
    if (redis !== undefined) await untilReady(redis);
    const policing = openPolicing({ policies: new Map([['api', policyOf(place, limitOf(algorithm, quota))]]), redis });
    return {
      decide: (key) => policing.decide({ policy: 'api', caller: { key }, cost: 1 }).then(isAllowed),
      async close() {
        const stoodIn = policing.counts().filter(({ decidedBy }) => decidedBy !== 'policer');
        await policing.close();
        if (redis !== undefined) closeConnection(redis);
        if (stoodIn.length > 0) throw new Error(`Redis was not asked: ${JSON.stringify(stoodIn)}`);
      },
    };
  };
}

/** A policer without the policy around it, which is what a store of the others comes to. */
function policer(open: (redis: Redis) => Policer): Open {
  return async ({ socketPath, quota }) => {
    const redis = openConnection({ socketPath }, { name: 'bench', deadlineMs: 5000 });
    await untilReady(redis);
    const policer = open(redis);
    const limit = bucketOf(quota);
    return {
      decide(key) {
        const subject = subjectOf('api', 0, limit, { key });
        const verdict = policer.check({ limits: [{ limit, subject }], cost: 1, peek: false });
        return verdict instanceof Promise ? verdict.then(conforms) : conforms(verdict);
      },
      async close() {
        await policer.close();
        closeConnection(redis);
      },
    };
  };
}

async function flexibleRedis({ socketPath, quota }: Terms, enableAutoPipelining: boolean): Promise<Contender> {
  const redis = new Redis(socketPath, { enableAutoPipelining });
  const limiter = new RateLimiterRedis({
    storeClient: redis,
    points: quota.calls,
    duration: quota.windowMs / 1000,
    keyPrefix: 'rlflx',
  });
  return { decide: (key) => limiter.consume(key).then(passes, refused), close: async () => redis.disconnect() };
}

async function rateLimitRedis({ socketPath, quota }: Terms, enableAutoPipelining: boolean): Promise<Contender> {
  const redis = new Redis(socketPath, { enableAutoPipelining });
  const store = new RedisStore({
    sendCommand: async (command: string, ...args: string[]) => asReply(await redis.call(command, ...args)),
  });
  // It tells its store what the window is.
  rateLimit({ store, windowMs: quota.windowMs, limit: quota.calls });
  return {
    decide: async (key) => (await store.increment(key)).totalHits <= quota.calls,
    close: async () => redis.disconnect(),
  };
}

async function fastifyRedis({ socketPath, quota }: Terms, enableAutoPipelining: boolean): Promise<Contender> {
  const redis = new Redis(socketPath, { enableAutoPipelining });
  const store = fastifyRedisStore(redis);
  return {
    decide: (key) =>
      new Promise((resolve, reject) => {
        store.incr(key, answer, quota.windowMs, quota.calls);
        function answer(error: Error | null, counted: { readonly current: number } | null): void {
          if (counted === null) reject(error);
          else resolve(counted.current <= quota.calls);
        }
      }),
    close: async () => redis.disconnect(),
  };
}

async function flexibleMemory({ quota }: Terms): Promise<Contender> {
  const limiter = new RateLimiterMemory({ points: quota.calls, duration: quota.windowMs / 1000 });
  return { decide: (key) => limiter.consume(key).then(passes, refused), close: async () => undefined };
}

async function expressMemory({ quota }: Terms): Promise<Contender> {
  const store = new MemoryStore();
  rateLimit({ store, windowMs: quota.windowMs, limit: quota.calls });
  return {
    decide: async (key) => (await store.increment(key)).totalHits <= quota.calls,
    close: async () => store.shutdown(),
  };
}

async function fastifyMemory({ quota }: Terms): Promise<Contender> {
  const store = fastifyMemoryStore();
  return {
    decide: (key) => {
      let current = 0;
      store.incr(
        key,
        (_, counted) => {
          current = counted?.current ?? 0;
        },
        quota.windowMs,
        quota.calls,
      );
      return current <= quota.calls;
    },
    close: async () => undefined,
  };
}

const isAllowed = ({ allowed }: Decision): boolean => allowed;
const conforms = ({ verdict }: PolicerVerdict): boolean => verdict === 'conforming';
const passes = (): boolean => true;

/** A refusal is what the limiter rejects with; an error is one. */
function refused(rejection: unknown): boolean {
  if (rejection instanceof Error) throw rejection;
  return false;
}

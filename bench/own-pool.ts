import type { Redis } from 'ioredis';
import { DEFAULT_CAPACITY, type Profile } from '../dist/src/model/profile.js';
import { openConnection, type RedisLink, untilReady } from '../dist/src/redis/connection.js';
import type { ClusterTarget } from '../dist/src/redis/redis-target.js';
import { Shards } from '../dist/src/redis/shards.js';
import { Subscriber } from '../dist/src/redis/subscriber.js';
import { newJobId } from '../dist/src/shaping/job-id.js';
import { openTypeSource } from '../dist/src/shaping/open-type-source.js';
import { RedisShaping } from '../dist/src/shaping/redis-shaping.js';
import type { Settings } from '../dist/src/shaping/settings.js';
import type { DoorAnswer } from '../dist/src/shaping/shaping.js';
import type { HandlerJob } from '../dist/workers/handler.js';
import { inProcess } from '../dist/workers/perform.js';
import { Pool } from '../dist/workers/pool.js';
import { Runner } from '../dist/workers/runner.js';

const TYPE = 'bench';
const DEADLINE_MS = 120_000;
const LOCKS = { lockMs: 30_000, stalledIntervalMs: 30_000, maxStalled: 1 };
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** A door and a pool of one type in this process, over two connections, on an emptied Redis. */
export interface OwnPool {
  readonly redis: Redis;
  readonly pool: Pool;
  /** Admits jobs of one tenant in one call; one without a payload of its own unless given. */
  admit(tenant: string, jobs?: readonly PoolJob[]): Promise<DoorAnswer>;
  stop(): Promise<void>;
}

/** What is said of a job where it matters. */
export interface PoolJob {
  readonly cost?: number;
  /** A payload that JSON can say. */
  readonly data?: unknown;
}

export interface OwnPoolOptions {
  readonly profile: Profile | ((tenant: string) => Profile);
  readonly slots: number;
  readonly keepResults: { readonly ageMs: number; readonly count: number };
  /** Does a job's work: nothing, unless given. */
  readonly run?: (job: HandlerJob) => unknown;
}

export async function startOwnPool(socketPath: string, options: OwnPoolOptions): Promise<OwnPool> {
  const open = (name: string): Redis => openConnection({ socketPath }, { name, deadlineMs: DEADLINE_MS });
  const [redis, messages] = [open('bench'), open('bench-wake')];
  await untilReady(redis);
  await redis.flushall();
  return { redis, ...ownPoolOver([redis, messages], new Shards(1), options) };
}

/** The same over a cluster that nobody has used, whose jobs are spread over so many shards. */
export async function startOwnPoolOnCluster(
  target: ClusterTarget,
  shards: number,
  options: OwnPoolOptions,
): Promise<Omit<OwnPool, 'redis'>> {
  const open = (name: string): RedisLink => openConnection(target, { name, deadlineMs: DEADLINE_MS });
  const [redis, messages] = [open('bench'), open('bench-wake')];
  await Promise.all([untilReady(redis), untilReady(messages)]);
  return ownPoolOver([redis, messages], new Shards(shards), options);
}

function ownPoolOver(
  [redis, messages]: readonly [commands: RedisLink, messages: RedisLink],
  shards: Shards,
  { profile, slots, keepResults, run = () => null }: OwnPoolOptions,
): Omit<OwnPool, 'redis'> {
  const type = { capacity: DEFAULT_CAPACITY, keepResults, attempts: 1 };
  const settings: Settings = {
    type: () => type,
    typeNames: () => [TYPE],
    shards,
    profile: (_type, tenant) => (typeof profile === 'function' ? profile(tenant) : profile),
  };
  const shaping = new RedisShaping(redis, settings);
  const plan = {
    performer: inProcess({ run }, { options: {}, maxResultBytes: 1_000_000 }),
    ...({ timeoutMs: 60_000, attempts: 1, retry: 'back', abandonAfterMs: 1000 } as const),
    backoff: { type: 'fixed', delayMs: 1000, maxMs: 1000 } as const,
    ...{ maxHoldMs: 60_000, maxReturns: 10 },
  };
  const source = openTypeSource(redis, TYPE, settings, { worker: 'bench', lockMs: LOCKS.lockMs });
  const pool = new Pool(redis, new Subscriber(messages), [new Runner(source, slots, plan, () => silent)], LOCKS);
  return {
    pool,
    admit: (tenant, jobs = [{}]) => {
      const admitted = jobs.map(({ cost = 1, data = { n: 1 } }) => ({
        ...{ id: newJobId(TYPE, shards.of(tenant)), data: JSON.stringify(data), priority: 4, delayMs: 0, cost },
      }));
      return shaping.admit(TYPE, tenant, admitted);
    },
    stop: async () => {
      await pool.stop(1000);
      for (const connection of [redis, messages]) connection.disconnect();
    },
  };
}

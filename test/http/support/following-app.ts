import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Redis } from 'ioredis';
import type { AppParts } from '../../../src/http/app.js';
import { DEFAULT_HTTP_LIMITS } from '../../../src/http/http-limits.js';
import { closeConnection, openConnection, untilReady } from '../../../src/redis/connection.js';
import type { RedisTarget } from '../../../src/redis/redis-target.js';
import { configSettings } from '../../../src/shaping/config-settings.js';
import { FEED_DEADLINE_MS, RedisJobFeed } from '../../../src/shaping/job-feed.js';
import { RedisShaping } from '../../../src/shaping/redis-shaping.js';
import { typeSettings } from '../../../src/shaping/settings.js';
import { type Held, type Outcome, WorkSource } from '../../../src/shaping/work-source.js';
import { testApp } from './test-app.js';
import { testConfig } from './test-config.js';

/** One API process in which one can follow jobs, and a worker's hands. */
export interface FollowingApp {
  readonly app: FastifyInstance;
  /** Where it listens. */
  readonly url: string;
  readonly redis: Redis;
  readonly feed: RedisJobFeed;
  readonly logged: readonly Record<string, unknown>[];
  /** Takes the next job of type `chat`, as a worker would. */
  take(): Promise<Held>;
  settle(held: Held, outcome: Outcome): Promise<void>;
  readonly work: WorkSource;
  close(): Promise<void>;
}

/** Starts one over a Redis that is there. `limits` are those of HTTP that the test is about. */
export async function followingApp(target: RedisTarget, parts: Partial<AppParts> = {}): Promise<FollowingApp> {
  const redis = openConnection(target, { name: 'api', deadlineMs: 60_000 });
  const events = openConnection(target, { name: 'api-events', deadlineMs: FEED_DEADLINE_MS });
  await Promise.all([untilReady(redis), untilReady(events)]);
  const settings = configSettings(await testConfig());
  const errors: unknown[] = [];
  const feed = new RedisJobFeed(events, redis, (error) => errors.push(error));
  const { app, logged } = await testApp({ shaping: new RedisShaping(redis, settings), feed, ...parts });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const work = new WorkSource(redis, 'chat', typeSettings(settings, 'chat'), { worker: 'w', lockMs: 30_000 });
  return {
    ...{ app, url, redis, feed, logged, work },
    async take() {
      const token = randomUUID();
      const taken = await work.dispatch(token);
      if (taken.kind !== 'job') throw new Error('nothing to run');
      return { token, tenant: taken.tenant, id: taken.id };
    },
    async settle(held, outcome) {
      const { verdict } = await work.settle(held, outcome);
      if (verdict !== 'settled') throw new Error(`the run of ${held.id} was ${verdict}`);
    },
    async close() {
      await app.close();
      closeConnection(events);
      await feed.close();
      closeConnection(redis);
      if (errors.length > 0) throw new AggregateError(errors, 'the feed failed');
    },
  };
}

/** The usual limits, with so few places. */
export function withFewSeats(seats: Partial<typeof DEFAULT_HTTP_LIMITS>): Partial<AppParts> {
  return { limits: { ...DEFAULT_HTTP_LIMITS, ...seats } };
}

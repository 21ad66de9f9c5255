import type { FastifyInstance, InjectOptions } from 'fastify';
import type { Redis } from 'ioredis';
import { LiveConfig } from '../../../src/config/live-config.js';
import type { AppParts } from '../../../src/http/app.js';
import { doorOf } from '../../../src/http/door.js';
import { closeConnection, openConnection, untilReady } from '../../../src/redis/connection.js';
import { Subscriber } from '../../../src/redis/subscriber.js';
import { administration } from '../../../src/shaping/administration.js';
import { applyChanges } from '../../../src/shaping/apply-changes.js';
import { deliverySettings } from '../../../src/shaping/delivery-settings.js';
import { RemoteKeyDirectory } from '../../../src/shaping/key-directory.js';
import { LiveSettings } from '../../../src/shaping/live-settings.js';
import { OverrideFollower } from '../../../src/shaping/override-follower.js';
import { OverrideStore } from '../../../src/shaping/override-store.js';
import { RedisShaping } from '../../../src/shaping/redis-shaping.js';
import { RedisTenantKeys } from '../../../src/shaping/tenant-keys.js';
import { as, testApp } from './test-app.js';
import { configFrom, type KEYS } from './test-config.js';

/** One API process as it is put together in `cli`, without a port. */
export interface LiveApp {
  readonly app: FastifyInstance;
  readonly redis: Redis;
  readonly live: LiveConfig;
  readonly settings: LiveSettings;
  readonly logged: Record<string, unknown>[];
  /** Status and body of a request with an admin's key, or another. */
  ask(
    method: InjectOptions['method'],
    url: string,
    body?: unknown,
    key?: keyof typeof KEYS,
  ): Promise<{ status: number; body: Record<string, unknown> & Record<string, never> }>;
  close(): Promise<void>;
}

/** What replaces parts of the app, once there is something for them to stand on. */
export type LiveParts = (
  on: Pick<LiveApp, 'redis' | 'live' | 'settings'> & Pick<AppParts, 'shaping'>,
) => Partial<AppParts>;

/** Starts one over a Redis that is there; `parts` replace what the test is about. */
export async function liveApp(
  socketPath: string,
  yaml: string,
  parts: Partial<AppParts> | LiveParts = {},
): Promise<LiveApp> {
  const connect = (name: string) => openConnection({ socketPath }, { name, deadlineMs: 2000 });
  const [redis, messages] = [connect('api'), connect('api-messages')];
  await Promise.all([untilReady(redis), untilReady(messages)]);
  const live = new LiveConfig(await configFrom(yaml));
  const settings = new LiveSettings(live);
  const store = new OverrideStore(redis);
  const schedule = { redis, live, settings };
  const errors: unknown[] = [];
  const subscriber = new Subscriber(messages);
  const follower = new OverrideFollower(store, live, subscriber, {
    onChange: async (subjects) => void (await applyChanges(schedule, subjects)),
    onError: (error) => errors.push(error),
  });
  follower.start();
  const directory = new RemoteKeyDirectory(new RedisTenantKeys(redis), subscriber);
  await follower.reload();
  const shaping = new RedisShaping(redis, deliverySettings(settings, live.view));
  const { app, logged } = await testApp({
    shaping,
    door: doorOf(live.view),
    admin: administration({ ...schedule, store, follower }),
    directory,
    ...(typeof parts === 'function' ? parts({ redis, live, settings, shaping }) : parts),
  });
  return {
    ...{ app, redis, live, settings, logged },
    async ask(method = 'GET', url = '/', body = undefined, key = 'admin') {
      const content =
        body === undefined ? {} : { payload: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
      const response = await app.inject(as(key, { method, url, ...content }));
      return { status: response.statusCode, body: response.json() };
    },
    async close() {
      await app.close();
      await follower.stop();
      directory.close();
      closeConnection(redis);
      closeConnection(messages);
      if (errors.length > 0) throw new AggregateError(errors, 'the follower failed');
    },
  };
}

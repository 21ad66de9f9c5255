import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LiveConfig } from '../../src/config/live-config.js';
import type { OverrideSubject } from '../../src/config/override-subject.js';
import { closeConnection, openConnection, untilReady } from '../../src/redis/connection.js';
import { OVERRIDES_CHANNEL, overrideKeys } from '../../src/redis/keys.js';
import { Subscriber } from '../../src/redis/subscriber.js';
import { OverrideFollower } from '../../src/shaping/override-follower.js';
import { OverrideStore } from '../../src/shaping/override-store.js';
import { configFrom } from '../http/support/test-config.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

/** A busy machine takes a while. */
const soon = <T>(look: () => T) => expect.poll(look);

const TENANT: OverrideSubject = { kind: 'tenant', name: 'a:b {c}' };
const file = await configFrom('types: { ocr: {} }\ntiers: { pro: {} }\ndefaultTier: pro');

let server: TestRedis;
let redis: Redis;
const open: (() => Promise<void> | void)[] = [];
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
beforeEach(() => server.flush());
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});
afterAll(() => server.stop());

/** Something that a test waits for, or keeps others waiting for. */
function signal(): { readonly given: Promise<void>; give(): void } {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give: () => give() };
}

/** What one process has: its configuration, in step with Redis. */
async function process({ pollMs = 600_000, onChange = async (): Promise<void> => undefined } = {}) {
  const connect = (name: string) => {
    const connection = openConnection({ socketPath: server.socketPath }, { name, deadlineMs: 2000 });
    open.push(() => closeConnection(connection));
    return connection;
  };
  const [commands, messages] = [connect('commands'), connect('messages')];
  await Promise.all([untilReady(commands), untilReady(messages)]);
  const told: string[] = [];
  const errors: unknown[] = [];
  const live = new LiveConfig(file);
  const store = new OverrideStore(commands);
  const follower = new OverrideFollower(store, live, new Subscriber(messages), {
    onChange: (subjects) => {
      told.push(...subjects.map(({ kind, name }) => `${kind} ${name}`));
      return onChange();
    },
    onError: (error) => errors.push(error),
    pollMs,
  });
  follower.start();
  open.push(async () => {
    await follower.stop();
    expect(errors).toEqual([]);
  });
  await follower.reload();
  const change = async (fields: Record<string, string | null>, subject = TENANT) =>
    follower.adopt(subject, await store.change(subject, new Map(Object.entries(fields)), false));
  const held = (subject = TENANT) => Object.fromEntries(live.values(subject));
  return { live, store, follower, told, change, held };
}

describe('a change made by one process', () => {
  test('holds there at once, and in the others as soon as they hear of it', async () => {
    const [one, other] = [await process(), await process()];
    await one.change({ rate: '2/s' });
    expect(one.held()).toEqual({ rate: '2/s' });
    await soon(() => other.held()).toEqual({ rate: '2/s' });
    await soon(() => other.told).toEqual([`tenant ${TENANT.name}`]);
    expect(other.live.view.tenants.get(TENANT.name)?.stated).toEqual({ ratePerSecond: 2 });
    await one.change({ rate: null });
    await soon(() => other.held()).toEqual({});
    expect(one.told, 'whoever made it knows it').toEqual([]);
  });

  test('is not lost when two administrators change different fields at the same time', async () => {
    const [one, other] = [await process(), await process()];
    const rates = Array.from({ length: 50 }, (_, i) => one.change({ rate: `${i + 1}/s` }));
    const depths = Array.from({ length: 50 }, (_, i) => other.change({ depth: `${i + 1}` }));
    await Promise.all([...rates, ...depths]);
    const stored = await redis.hgetall(overrideKeys('tenant:a%3Ab%20%7Bc%7D')[2]);
    expect(stored).toEqual({ rate: '50/s', depth: '50' });
    for (const { held } of [one, other]) await soon(held).toEqual(stored);
  });

  test('of many subjects reaches everybody, in whatever order messages and answers come', async () => {
    const all = [await process(), await process(), await process()];
    const names = Array.from({ length: 40 }, (_, i) => `t${i}`);
    await Promise.all(
      names.flatMap((name, i) =>
        all.map(({ change }, of) =>
          change(
            { [['rate', 'depth', 'weight'][of] ?? '']: of === 0 ? `${i + 1}/s` : `${i + 1}` },
            { kind: 'tenant', name },
          ),
        ),
      ),
    );
    for (const { held } of all) {
      await soon(() => names.map((name) => held({ kind: 'tenant', name }))).toEqual(
        names.map((_, i) => ({ rate: `${i + 1}/s`, depth: `${i + 1}`, weight: `${i + 1}` })),
      );
    }
  });
});

describe('a message that got lost', () => {
  /** A change that nobody is told of. */
  const silently = async (name: string, rate: string) => {
    const [revision, subjects, key] = overrideKeys(`tenant:${name}`);
    await redis.multi().incr(revision).sadd(subjects, `tenant:${name}`).hset(key, 'rate', rate).exec();
  };

  test('is made up for by the next one, whose number shows the gap', async () => {
    const one = await process();
    await silently('lost', '1/s');
    const other = await process();
    await other.change({ rate: '3/s' });
    await soon(() => one.held({ kind: 'tenant', name: 'lost' })).toEqual({ rate: '1/s' });
    await soon(() => one.told.toSorted()).toEqual([`tenant ${TENANT.name}`, 'tenant lost']);
  });

  test('because the connection was away is made up for as soon as it is back', async () => {
    const one = await process();
    await redis.client('KILL', 'TYPE', 'pubsub');
    await silently('lost', '1/s');
    await soon(() => one.held({ kind: 'tenant', name: 'lost' })).toEqual({ rate: '1/s' });
    await soon(() => one.told).toEqual(['tenant lost']);
  });

  test('or by the next look at the count of changes', async () => {
    const one = await process({ pollMs: 20 });
    await silently('lost', '1/s');
    await soon(() => one.held({ kind: 'tenant', name: 'lost' })).toEqual({ rate: '1/s' });
    await soon(() => one.told).toEqual(['tenant lost']);
  });
});

test('what this process changed is not undone by a reading that began before', async () => {
  const [answered, letGo] = [signal(), signal()];
  class SlowStore extends OverrideStore {
    override async readAll() {
      const all = await super.readAll();
      answered.give();
      await letGo.given;
      return all;
    }
  }
  const live = new LiveConfig(file);
  const store = new SlowStore(redis);
  const ears = new Subscriber(server.client());
  const options = { onChange: async () => undefined, onError: (error: unknown) => expect.unreachable(String(error)) };
  const follower = new OverrideFollower(store, live, ears, options);
  const reloaded = follower.reload();
  await answered.given;
  follower.adopt(TENANT, await store.change(TENANT, new Map([['rate', '2/s']]), false));
  letGo.give();
  await reloaded;
  expect(Object.fromEntries(live.values(TENANT))).toEqual({ rate: '2/s' });
});

test('whoever is slow to follow a change keeps nobody from hearing of the next', async () => {
  const letGo = signal();
  const [one, slow] = [await process(), await process({ onChange: () => letGo.given })];
  await one.change({ rate: '2/s' });
  await one.change({ rate: '3/s' });
  await soon(() => slow.held()).toEqual({ rate: '3/s' });
  letGo.give();
});

test('what is in Redis holds after a reload, even when it went back in time', async () => {
  const one = await process();
  await one.change({ rate: '2/s' });
  await server.flush();
  expect(await one.follower.reload()).toBe(true);
  expect(one.held()).toEqual({});
  await soon(() => one.told).toEqual([`tenant ${TENANT.name}`]);
  await one.change({ rate: '3/s' });
  expect(one.held()).toEqual({ rate: '3/s' });
});

test('a new process finds what was changed before it came, in pages', async () => {
  const one = await process();
  const names = Array.from({ length: 450 }, (_, i) => `t${i}`);
  await Promise.all(names.map((name, i) => one.change({ depth: `${i}` }, { kind: 'tenant', name })));
  const late = await process();
  expect(names.map((name) => late.held({ kind: 'tenant', name }).depth)).toEqual(names.map((_, i) => `${i}`));
  await soon(() => late.told).toHaveLength(450);
});

test('an idle process sends one tiny command per look', async () => {
  await process({ pollMs: 10 });
  await redis.config('RESETSTAT');
  await soon(async () =>
    Number(/cmdstat_get:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0),
  ).toBeGreaterThan(3);
  const stats = await redis.info('commandstats');
  expect(stats).not.toMatch(/cmdstat_(hgetall|smembers|multi|fcall)/);
});

test('messages that are none of ours change nothing', async () => {
  const one = await process();
  for (const message of ['', 'x', '5', 'NaN tenant:a', '7 nobody', '9 tenant:%']) {
    await redis.spublish(OVERRIDES_CHANNEL, message);
  }
  await one.change({ rate: '2/s' });
  expect(one.told).toEqual([]);
});

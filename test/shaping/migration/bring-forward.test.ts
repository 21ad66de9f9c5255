import type { Command, Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { closeConnection, openConnection, type RedisLink, untilReady } from '../../../src/redis/connection.js';
import { shardTag } from '../../../src/redis/keys.js';
import { mastersOf } from '../../../src/redis/masters.js';
import type { ClusterTarget, RedisTarget } from '../../../src/redis/redis-target.js';
import { loadLibrary, runScript } from '../../../src/redis/script.js';
import { bringForward, olderData } from '../../../src/shaping/migration/bring-forward.js';
import { STEPS } from '../../../src/shaping/migration/forward-scripts.js';
import { library, scripts } from '../../../src/shaping/scripts.js';
import { OLDEST_FORMAT, refuseOtherData, STORED_FORMAT } from '../../../src/shaping/stored-data.js';
import { startCluster, type TestCluster } from '../../support/redis-cluster.js';
import { startRedis, type TestRedis } from '../../support/redis-server.js';
import { librariesOf, recordedForm, restore } from '../../support/stored-form/recorded.js';

const FORM = recordedForm('form-3');
const DEADLINE_MS = 5000;

let server: TestRedis;
let redis: Redis;
const links: RedisLink[] = [];

beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server?.stop());
beforeEach(async () => {
  await redis.flushall();
  await redis.function('FLUSH');
});
afterEach(() => {
  for (const each of links.splice(0)) closeConnection(each);
});

async function link(target: RedisTarget | ClusterTarget, name = 'migrate'): Promise<RedisLink> {
  const opened = openConnection(target, { name, deadlineMs: DEADLINE_MS });
  links.push(opened);
  await untilReady(opened);
  return opened;
}

const own = (keyPrefix?: string): RedisTarget => ({
  socketPath: server.socketPath,
  ...(keyPrefix !== undefined && { keyPrefix }),
});

/** Has `tell` hear of every call of a script over this connection before it is sent: function, number of keys, keys, values. */
function onCall(connection: RedisLink, tell: (args: readonly unknown[]) => void): void {
  const { sendCommand } = connection;
  Reflect.set(connection, 'sendCommand', (...args: [Command, ...unknown[]]) => {
    if (args[0].name === 'fcall') tell(args[0].args);
    return Reflect.apply(sendCommand, connection, args);
  });
}

/** All that is stored, by key: as DUMP gives it, and of a hash, whose fields have no order, its fields. */
async function dumpOf(from: readonly Redis[] = [redis]): Promise<Record<string, string>> {
  const pairs: [string, string][] = [];
  for (const each of from) for (const key of await each.keys('*')) pairs.push([key, await contentOf(each, key)]);
  return Object.fromEntries(pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

async function contentOf(from: Redis, key: string): Promise<string> {
  if ((await from.type(key)) !== 'hash') return String((await from.dumpBuffer(key))?.toString('base64'));
  const fields = Object.entries(await from.hgetallBuffer(key)).map(
    ([field, value]) => `${field} ${value.toString('base64')}`,
  );
  return fields.toSorted().join('\n');
}

async function functionNames(): Promise<string[]> {
  const listed = await redis.function('LIST', 'LIBRARYNAME', '*');
  return (Array.isArray(listed) ? listed : [])
    .map((each: unknown) => String(Array.isArray(each) ? each[1] : each))
    .toSorted();
}

/** What the whole of it comes to on a server where nothing comes in between. */
async function forwarded(): Promise<Record<string, string>> {
  await restore(redis, FORM);
  await bringForward(await link(own()));
  const whole = await dumpOf();
  await redis.flushall();
  return whole;
}

test('the steps go from the oldest form to this one, one after another', () => {
  expect(STEPS.map(({ from }) => from)).toEqual(
    Array.from({ length: STORED_FORMAT - OLDEST_FORMAT }, (_, i) => OLDEST_FORMAT + i),
  );
  expect(FORM.format).toBe(String(OLDEST_FORMAT));
});

describe('data of an older form', () => {
  test('is refused at start, with the command that mends it, until it was brought forward', async () => {
    await restore(redis, FORM);
    for (const type of ['page', 'gate']) {
      await expect(refuseOtherData(await link(own()), [type], 1)).rejects.toThrow(
        `the data of type "${type}" in Redis has format 3; this version reads format 4: end all older processes, then run \`headgate migrate\``,
      );
    }
    const migration = await bringForward(await link(own()));
    expect(migration.older.map(({ type, shard, format }) => [type, shard, format])).toEqual([
      ['gate', 0, '3'],
      ['page', 0, '3'],
    ]);
    expect([migration.buckets, migration.runs]).toEqual([11, 6]);
    await refuseOtherData(await link(own()), ['page', 'gate'], 1);
  });

  test('is looked at without a change', async () => {
    await restore(redis, FORM);
    const whole = await dumpOf();
    expect(await olderData(await link(own()))).toHaveLength(2);
    expect(await dumpOf()).toEqual(whole);
  });

  test('is brought forward once: the second time there is nothing to do, and nothing changes', async () => {
    await restore(redis, FORM);
    await bringForward(await link(own()));
    const whole = await dumpOf();
    expect(await bringForward(await link(own()))).toMatchObject({ older: [], closed: [], buckets: 0, runs: 0 });
    expect(await dumpOf()).toEqual(whole);
  });

  test('is left as it is under another prefix than that of the configuration', async () => {
    await restore(redis, FORM, (key) => `shop:${key}`);
    await restore(redis, FORM, (key) => `shop2:${key}`);
    const theirs = (all: Record<string, string>) => Object.entries(all).filter(([key]) => key.startsWith('shop2:'));
    const whole = await dumpOf();
    await bringForward(await link(own('shop:')));
    expect(await redis.hget('shop:{hg:page:0}:type', 'format')).toBe('4');
    expect(theirs(await dumpOf())).toEqual(theirs(whole));
  });
});

describe('ended in the middle', () => {
  class Ended extends Error {}

  /** Brings data forward until so many calls of its script were made. */
  async function endedAfter(calls: number): Promise<boolean> {
    let left = calls;
    const connection = await link(own());
    onCall(connection, () => {
      left -= 1;
      if (left < 0) throw new Ended();
    });
    try {
      await bringForward(connection);
      return false;
    } catch (error) {
      if (!(error instanceof Ended)) throw error;
      return true;
    }
  }

  test('at whatever call, no process starts over it, and the next run comes to the same', async () => {
    const whole = await forwarded();
    let calls = 1;
    for (; ; calls += 1) {
      await restore(redis, FORM);
      if (!(await endedAfter(calls))) break;
      const marked = await Promise.all(['page', 'gate'].map((type) => redis.hget(`{hg:${type}:0}:type`, 'format')));
      expect(marked).toContain('3>4');
      await expect(refuseOtherData(await link(own()), ['page', 'gate'], 1)).rejects.toThrow(/run `headgate migrate`/);
      await bringForward(await link(own()));
      expect(await dumpOf()).toEqual(whole);
      await redis.flushall();
    }
    expect(calls).toBeGreaterThan(5);
  });

  test('by two at once, it comes to the same', async () => {
    const whole = await forwarded();
    await restore(redis, FORM);
    const [one, other] = [await link(own()), await link(own())];
    const [a, b] = await Promise.all([bringForward(one), bringForward(other)]);
    expect([a.buckets + b.buckets, a.runs + b.runs]).toEqual([11, 6]);
    expect(await dumpOf()).toEqual(whole);
  });
});

describe('many tenants', () => {
  test('are brought forward in bites, between which Redis serves others', async () => {
    await restore(redis, FORM);
    const [, dump] = FORM.keys['{hg:page:0}:bucket:quiet'] ?? [0, ''];
    const count = 1234;
    for (let i = 0; i < count; i += 1)
      await redis.restore(`{hg:page:0}:bucket:many${i}`, 0, Buffer.from(dump, 'base64'));
    const connection = await link(own());
    const sizes: number[] = [];
    onCall(connection, (args) => sizes.push(args.length));
    const told: number[] = [];
    expect(await bringForward(connection, ({ buckets }) => told.push(buckets))).toMatchObject({ buckets: count + 11 });
    // The function, the number of keys, two keys, and what is to be done.
    expect(Math.max(...sizes)).toBeLessThanOrEqual(100 + 5);
    expect(sizes.length).toBeGreaterThan(count / 100);
    expect(told.at(-1)).toBe(count + 11);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
  });
});

describe('over several shards', () => {
  const SHARDS = 3;
  /** The same data as that of each of three shards of a type. */
  async function restoreSpread(on: RedisLink): Promise<void> {
    for (let shard = 0; shard < SHARDS; shard += 1) {
      await restore(on, FORM, (key) => key.replace(/^\{hg:(\w+):0\}/, `{hg:$1:${shard}}`));
      for (const type of ['page', 'gate']) await on.hset(`{hg:${type}:${shard}}:type`, 'shards', SHARDS);
    }
  }

  test('the first is marked first and unmarked last, so that nobody starts over a part', async () => {
    await restoreSpread(redis);
    const connection = await link(own());
    const steps: string[] = [];
    onCall(connection, (args) => {
      if (args[4] === 'begin' || args[4] === 'end') steps.push(`${String(args[4])} ${String(args[2])}`);
    });
    await bringForward(connection);
    const ofPage = steps.filter((step) => step.includes(':page:'));
    expect(ofPage).toEqual([
      ...[0, 1, 2].map((shard) => `begin {hg:page:${shard}}:type`),
      ...[2, 1, 0].map((shard) => `end {hg:page:${shard}}:type`),
    ]);
  });

  describe('on a cluster', () => {
    let cluster: TestCluster;
    beforeAll(async () => {
      cluster = await startCluster(3);
    });
    afterAll(() => cluster?.stop());

    test('each call has all its keys in one slot, and every shard comes to the same as alone', async () => {
      const whole = await forwarded();
      const connection = await link({ cluster: cluster.addresses });
      await restoreSpread(connection);
      const masters = cluster.nodes.map((node) => node.client());
      expect(mastersOf(connection)).toHaveLength(3);
      const { older, buckets, runs } = await bringForward(connection);
      expect([older.length, buckets, runs]).toEqual([2 * SHARDS, 11 * SHARDS, 6 * SHARDS]);
      const after = await dumpOf(masters);
      for (const [key, dump] of Object.entries(whole)) {
        if (!key.startsWith('{hg:page:') || key.endsWith(':type')) continue;
        for (let shard = 0; shard < SHARDS; shard += 1) expect(after[key.replace(':0}', `:${shard}}`)], key).toBe(dump);
      }
      await refuseOtherData(connection, ['page', 'gate'], SHARDS);
    });
  });
});

describe('is refused, and nothing changes', () => {
  async function unchanged(act: () => Promise<unknown>): Promise<void> {
    const [whole, names] = [await dumpOf(), await functionNames()];
    await act();
    expect(await dumpOf()).toEqual(whole);
    expect(await functionNames()).toEqual(names);
  }

  test.each([
    ['5', /has format 5; this version reads format 4$/],
    ['4>5', /has format 4>5; this version reads format 4$/],
    ['2', /has format 2; this version reads format 4$/],
  ])('where one type has format %s', async (format, says) => {
    await restore(redis, FORM);
    await redis.hset('{hg:gate:0}:type', 'format', format);
    await unchanged(async () => expect(bringForward(await link(own()))).rejects.toThrow(says));
  });

  test.each(['api', 'api-messages', 'worker', 'worker-wake'])(
    'while a connection headgate:%s is there, which it names',
    async (name) => {
      await restore(redis, FORM);
      for (const text of librariesOf(FORM)) await redis.function('LOAD', text);
      await link(own(), name);
      await unchanged(async () => expect(bringForward(await link(own()))).rejects.toThrow(`headgate:${name} (`));
    },
  );
});

describe('scripts of the older version', () => {
  const OLD_TEXT = librariesOf(FORM)[0] ?? '';
  const [, OLD_NAME = ''] = /^#!lua name=(\w+)/.exec(OLD_TEXT) ?? [];
  const old = (verb: string): string => `${verb}_${OLD_NAME.replace('headgate_', '')}`;
  // Of a type in which a job is ready and a slot is free.
  const KEYS = ['{hg:gate:0}:type', '{hg:gate:0}:never'] as const;
  const dispatch = () => redis.fcall(old('dispatch'), 2, ...KEYS, '', 'a-token', '1000', '32', '1000', '10');

  beforeEach(async () => {
    await redis.function('LOAD', OLD_TEXT);
    await restore(redis, FORM);
  });

  test('serve what they have left as long as it was not brought forward', async () => {
    expect(await dispatch()).toEqual(expect.arrayContaining(['job', 'policed']));
  });

  test('do nothing any more from then on, whoever calls them', async () => {
    const { closed } = await bringForward(await link(own()));
    expect(closed).toEqual([OLD_NAME]);
    const whole = await dumpOf();
    await expect(dispatch()).rejects.toThrow(/the data of jobs was brought forward to format 4.*end this process/);
    await expect(redis.fcall(old('admit'), 2, ...KEYS, '', 'paced', '', '1000', '10', '')).rejects.toThrow(
      /brought forward/,
    );
    await expect(redis.fcall(old('configure'), 2, ...KEYS, '', '3', '0', '1', '6', '25000')).rejects.toThrow(
      /brought forward/,
    );
    expect(await dumpOf()).toEqual(whole);
  });

  test('cannot be loaded again, as a process that comes back would', async () => {
    await bringForward(await link(own()));
    await expect(redis.function('LOAD', 'REPLACE', OLD_TEXT)).rejects.toThrow(/already exists/);
    // Nor after the tidying up that the documentation allows.
    for (const name of (await functionNames()).filter((each) => each.startsWith('headgate_')))
      await redis.function('DELETE', name);
    await expect(redis.function('LOAD', 'REPLACE', OLD_TEXT)).rejects.toThrow(/already exists/);
    await expect(dispatch()).rejects.toThrow(/brought forward/);
  });

  test('are closed before anything is brought forward', async () => {
    const connection = await link(own());
    onCall(connection, () => {
      throw new Error('ended before the first bite');
    });
    await expect(bringForward(connection)).rejects.toThrow('ended before the first bite');
    expect(await redis.hget('{hg:page:0}:type', 'format')).toBe('3');
    await expect(dispatch()).rejects.toThrow(/brought forward/);
  });

  test('leave those of this version alone', async () => {
    await loadLibrary(redis, library);
    await bringForward(await link(own()));
    expect(await functionNames()).toEqual(expect.arrayContaining([library.name, `closed_${OLD_NAME}`]));
    const argv = ['', 'a-token', 1000, 32, 1000, 10, '', ''];
    expect(await runScript(redis, { script: scripts.dispatch, tag: shardTag('gate'), argv })).toMatchObject({
      kind: 'job',
    });
  });
});

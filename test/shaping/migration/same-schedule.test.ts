import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { closeConnection, openConnection, untilReady } from '../../../src/redis/connection.js';
import { type Argument, loadLibrary } from '../../../src/redis/script.js';
import { bringForward } from '../../../src/shaping/migration/bring-forward.js';
import { library } from '../../../src/shaping/scripts.js';
import { redisForTests } from '../../lua/redis-for-tests.js';
import { librariesOf, recordedForm, restore } from '../../support/stored-form/recorded.js';

const server = redisForTests();
const FORM = recordedForm('form-3');
const DAY_US = 86_400_000_000;
const LIMIT = 32;
const KEEP = [1000, 10];
const LOCK_MS = 1000;

/** Calls a verb of one of the two versions. */
type Call = (verb: string, argv: readonly Argument[]) => Promise<unknown>;

interface Version {
  readonly call: Call;
  /** What this version's scripts want besides. */
  readonly floor: readonly string[];
  readonly permit: readonly string[];
}

const call =
  (redis: Redis, mark: string): Call =>
  (verb, argv) =>
    redis.fcall(`${verb}_${mark}`, 2, '{hg:page:0}:type', '{hg:page:0}:never', ...argv);

async function oldVersion(redis: Redis): Promise<Version> {
  const [text = ''] = librariesOf(FORM);
  const [, mark = ''] = /^#!lua name=headgate_(\w+)/.exec(text) ?? [];
  await redis.function('LOAD', 'REPLACE', text);
  return { call: call(redis, mark), floor: [], permit: [] };
}

async function newVersion(redis: Redis): Promise<Version> {
  await loadLibrary(redis, library);
  return { call: call(redis, library.name.replace('headgate_', '')), floor: [''], permit: [''] };
}

/** Whatever starts from the instant of the recording on, and after how many µs, while every run ends as soon as it began. */
async function schedule(redis: Redis, { call, floor, permit }: Version): Promise<string[]> {
  // The clock of the type, in both forms the first number.
  const from = (await redis.hgetBuffer('{hg:page:0}:type', 's'))?.readDoubleLE(0) ?? 0;
  let now = from;
  await call('recover', [now, '0', 1000, 1, ...KEEP, ...floor]);
  const starts: string[] = [];
  for (let turn = 0; turn < 200; turn += 1) {
    const reply = await call('dispatch', [now, `t${turn}`, LOCK_MS, LIMIT, ...KEEP, ...floor, ...permit]);
    const parts = (Array.isArray(reply) ? reply : []).filter((part) => part !== '');
    if (parts[0] === 'nothing') {
      const waitUs = Number(parts[1]);
      if (waitUs < 0 || waitUs > DAY_US) return starts;
      now += waitUs;
    } else {
      const [, tenant = '', id = ''] = parts.map(String);
      starts.push(`${now - from} µs ${tenant} ${id}`);
      const run = [`t${turn}`, tenant, id, 'completed', '{}', 0, '', ''];
      await call('settle', [now, 3, ...KEEP, LOCK_MS, LIMIT, ...floor, ...run]);
    }
  }
  throw new Error('there was no end of it');
}

/** As the version that made the data goes on, and as this one does, once `spoil` was done to it. */
async function bothSchedules(spoil: (redis: Redis) => Promise<unknown>): Promise<{ old: string[]; fresh: string[] }> {
  const { redis } = server;
  await redis.flushall();
  await redis.function('FLUSH');
  await restore(redis, FORM);
  const old = await schedule(redis, await oldVersion(redis));
  await redis.flushall();
  await restore(redis, FORM);
  const link = openConnection({ socketPath: String(redis.options.path) }, { name: 'migrate', deadlineMs: 5000 });
  await untilReady(link);
  await bringForward(link);
  closeConnection(link);
  await spoil(redis);
  return { old, fresh: await schedule(redis, await newVersion(redis)) };
}

test('what was brought forward goes on as under the version that made it: the same jobs at the same instants in the same order', async () => {
  const { old, fresh } = await bothSchedules(async () => undefined);
  expect(old.length).toBeGreaterThan(20);
  expect(fresh).toEqual(old);
});

test.each([
  ['how far a bucket is ahead of its rate', 80],
  ['its interval', 104],
])('that check notices the loss of %s', async (_, at) => {
  const { old, fresh } = await bothSchedules(async (redis) => {
    for (const tenant of ['paced', 'costly']) await redis.setrange(`{hg:page:0}:bucket:${tenant}`, at, Buffer.alloc(8));
  });
  expect(fresh).not.toEqual(old);
});

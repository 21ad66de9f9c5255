import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { beforeEach, describe, expect, test } from 'vitest';
import { shardTag } from '../../src/redis/keys.js';
import { runScript, type Script } from '../../src/redis/script.js';
import { STEPS } from '../../src/shaping/migration/forward-scripts.js';
import { recordedForm, restore } from '../support/stored-form/recorded.js';
import { redisForTests } from './redis-for-tests.js';
import { EPOCH_MS } from './script-shard.js';
import { BUCKET_DOUBLES, bucketOf, typeOf } from './stored-state.js';

const server = redisForTests();
const FORM = recordedForm('form-3');
const PAGE = shardTag('page');
const [FORWARD] = STEPS.map(({ script }) => script);
/** What form 4 has more, beside the weights of what is ready. */
const NEW_OF_BUCKET = ['served', 'deserved', 'share_at', 'share_v'];
const READY = 2;
/** Of form 3: 29 doubles, then the tail that both forms have. */
const OLD_DOUBLES = BUCKET_DOUBLES.filter((name) => !NEW_OF_BUCKET.includes(name));
const OLD_TYPE = 'last offset tat running v maxfin busy capped expiry held T burst conc slack paused'.split(' ');

interface Shard {
  readonly type: Buffer;
  readonly buckets: ReadonlyMap<string, Buffer>;
  readonly runs: ReadonlyMap<string, Buffer>;
}

async function shardOf(redis: Redis): Promise<Shard> {
  const bucketKeys = (await redis.keys(`${PAGE}:bucket:*`)).toSorted();
  const buckets = await Promise.all(
    bucketKeys.map(async (key) => [key.slice(`${PAGE}:bucket:`.length), await bytes(redis.getBuffer(key))] as const),
  );
  const runs = Object.entries(await redis.hgetallBuffer(`${PAGE}:running`));
  return { type: await bytes(redis.hgetBuffer(`${PAGE}:type`, 's')), buckets: new Map(buckets), runs: new Map(runs) };
}

async function bytes(reply: Promise<Buffer | null>): Promise<Buffer> {
  return (await reply) ?? Buffer.alloc(0);
}

const run = (redis: Redis, argv: readonly string[], script = FORWARD): Promise<number> => {
  if (script === undefined) throw new Error('there is no step');
  return runScript(redis, { script, tag: PAGE, argv });
};

async function forward(redis: Redis, script?: Script<number>): Promise<void> {
  const { buckets, runs } = await shardOf(redis);
  await run(redis, ['begin'], script);
  await run(redis, ['buckets', ...buckets.keys()], script);
  await run(redis, ['runs', ...runs.keys()], script);
  await run(redis, ['end'], script);
}

const doublesOf = (names: readonly string[], from: Buffer): Record<string, number> =>
  Object.fromEntries(names.map((name, i) => [name, from.readDoubleLE(8 * i)]));
const tailOf = (from: Buffer): string => from.subarray(-17).toString('hex');

/** Says in full what has to be there once form 3 was brought forward. */
async function expectForm4(redis: Redis, before: Shard): Promise<void> {
  const after = await shardOf(redis);
  expect(await redis.hget(`${PAGE}:type`, 'format')).toBe('4');
  const type = typeOf(after.type);
  expect(after.type).toHaveLength(160);
  expect(Object.fromEntries(OLD_TYPE.map((name) => [name, type(name)]))).toEqual(doublesOf(OLD_TYPE, before.type));
  const ready = await redis.zrange(`${PAGE}:ready`, 0, -1);
  expect(ready).toContain('ready');
  const weights = ready.map((tenant) => bucketOf(after.buckets.get(tenant))('weight'));
  expect(type('weights')).toBe(weights.reduce((sum, weight) => sum + weight, 0));
  for (const [tenant, old] of before.buckets) {
    const fresh = after.buckets.get(tenant) ?? Buffer.alloc(0);
    const bucket = bucketOf(fresh);
    expect(old, tenant).toHaveLength(249);
    expect(fresh, tenant).toHaveLength(281);
    expect(Object.fromEntries(OLD_DOUBLES.map((name) => [name, bucket(name)])), tenant).toEqual(
      doublesOf(OLD_DOUBLES, old),
    );
    expect(tailOf(fresh)).toBe(tailOf(old));
    expect(NEW_OF_BUCKET.map(bucket), tenant).toEqual([0, 0, 0, type('v')]);
    expect(bucket('flags') % 4 === READY, tenant).toBe(ready.includes(tenant));
  }
  expect(after.runs.size).toBe(6);
  for (const [token, old] of before.runs) {
    const fresh = after.runs.get(token) ?? Buffer.alloc(0);
    expect(fresh.subarray(0, old.length)).toEqual(old);
    expect(fresh).toHaveLength(old.length + 8);
    const [tenant, id] = old.toString('latin1').split(' ');
    const startedMs = Number(await redis.hget(`${PAGE}:q:${tenant}:${id}`, 'processedOn'));
    expect(fresh.readDoubleLE(old.length)).toBe((startedMs - EPOCH_MS) * 1000);
  }
}

/** Every key of the shard as DUMP gives it. */
async function dumpOf(redis: Redis): Promise<Record<string, string>> {
  const keys = (await redis.keys('*')).toSorted();
  return Object.fromEntries(
    await Promise.all(keys.map(async (key) => [key, (await bytes(redis.dumpBuffer(key))).toString('base64')])),
  );
}

let redis: Redis;
let before: Shard;
beforeEach(async () => {
  redis = server.redis;
  await redis.flushall();
  await restore(redis, FORM);
  before = await shardOf(redis);
});

describe('what a build of form 3 has left', () => {
  test('comes to form 4: nothing of it changes, and what form 4 has more follows from it', async () => {
    await forward(redis);
    await expectForm4(redis, before);
  });

  test('is marked until all of it was brought forward', async () => {
    await run(redis, ['begin']);
    expect(await redis.hget(`${PAGE}:type`, 'format')).toBe('3>4');
  });

  test('says how much was brought forward, and nothing the second time', async () => {
    await run(redis, ['begin']);
    const names = ['buckets', ...before.buckets.keys(), 'nobody'];
    expect(await run(redis, names)).toBe(before.buckets.size);
    expect(await run(redis, names)).toBe(0);
    expect(await run(redis, ['runs', ...before.runs.keys(), 'no-token'])).toBe(before.runs.size);
    expect(await run(redis, ['runs', ...before.runs.keys()])).toBe(0);
  });

  test('comes to the same in whatever bites, each of them twice', async () => {
    await forward(redis);
    const whole = await dumpOf(redis);
    await redis.flushall();
    await restore(redis, FORM);
    const bites = [
      ['begin'],
      ...[...before.buckets.keys()].toReversed().map((tenant) => ['buckets', tenant]),
      ...[...before.runs.keys()].map((token) => ['runs', token]),
      ['end'],
    ];
    for (const bite of bites) await run(redis, bite);
    for (const bite of bites) expect(await run(redis, bite)).toBe(0);
    expect(await dumpOf(redis)).toEqual(whole);
  });

  test('of a type that no worker ever served comes forward though it says no version', async () => {
    const gate = shardTag('gate');
    expect(await redis.hget(`${gate}:type`, 'format')).toBe(null);
    const call = (...argv: string[]) => FORWARD && runScript(redis, { script: FORWARD, tag: gate, argv });
    expect([await call('begin'), await call('buckets', 'policed', 'paused'), await call('end')]).toEqual([0, 2, 0]);
    expect(await redis.hget(`${gate}:type`, 'format')).toBe('4');
  });
});

describe('nothing is written', () => {
  test.each(['buckets', 'runs', 'end'])('by %s before it has begun', async (what) => {
    const whole = await dumpOf(redis);
    expect(await run(redis, [what, ...before.buckets.keys()])).toBe(-1);
    expect(await dumpOf(redis)).toEqual(whole);
  });

  test.each(['1', '2', '5', '4>5', 'x'])('to data of form %s', async (format) => {
    await redis.hset(`${PAGE}:type`, 'format', format);
    const whole = await dumpOf(redis);
    for (const what of ['begin', 'buckets', 'end']) expect(await run(redis, [what, ...before.buckets.keys()])).toBe(-1);
    expect(await dumpOf(redis)).toEqual(whole);
  });

  test('to any of some buckets when one of them is of neither form', async () => {
    await run(redis, ['begin']);
    await redis.set(`${PAGE}:bucket:strange`, 'x'.repeat(241));
    const whole = await dumpOf(redis);
    expect(await run(redis, ['buckets', ...before.buckets.keys(), 'strange'])).toBe(-1);
    expect(await dumpOf(redis)).toEqual(whole);
  });
});

describe('these checks notice a script that', () => {
  test.each([
    ['forgets the weights of what is ready', 'weights = weights + ', 'weights = weights + 0 * '],
    ['counts the weights of all buckets', '% 4 == READY then', '% 4 >= 0 then'],
    ['puts what is new of a bucket in the wrong place', '249, 281, 233,', '249, 281, 225,'],
    [
      'puts what is new of a type in the wrong place',
      'local TYPE_BYTES, HELD_END = 120, 80',
      'local TYPE_BYTES, HELD_END = 120, 96',
    ],
    [
      'counts the share of a bucket from the beginning',
      "struct.pack('<dddd', 0, 0, 0, v)",
      "struct.pack('<dddd', 0, 0, 0, 0)",
    ],
    ['leaves what runs as it was', "if what == 'runs' then return bring_runs(ARGV) end", ''],
    ['takes milliseconds for microseconds', 'ms and us_of_unix_ms(ms)', 'ms and us_of_unix_ms(ms) / 1000'],
  ])('%s', async (_, from, to) => {
    await forward(redis, changed(FORWARD, from, to));
    await expect(expectForm4(redis, before)).rejects.toThrow();
  });
});

/** The script with a part of its text replaced. */
function changed(script: Script<number> | undefined, from: string, to: string): Script<number> {
  if (!script?.library.text.includes(from)) throw new Error(`the script does not say ${from}`);
  const was = script.library.name.replace('headgate_', '');
  const mark = createHash('sha1').update(from).digest('hex').slice(0, 12);
  const text = script.library.text.replace(from, () => to).replaceAll(was, mark);
  return {
    ...script,
    library: { ...script.library, name: `headgate_${mark}`, text },
    function: script.function.replace(was, mark),
  };
}

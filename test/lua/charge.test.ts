import { describe, expect, test } from 'vitest';
import type { Profile } from '../../src/model/profile.js';
import { scripts } from '../../src/shaping/scripts.js';
import { redisForTests } from './redis-for-tests.js';
import type { JobSpec, ScriptShard } from './script-shard.js';
import { wakeUps } from './wake-ups.js';

const redis = redisForTests();
const SECOND = 1_000_000;
const UNLIMITED: Partial<Profile> = { ratePerSecond: Infinity };

/** A shard where token `t1` runs a job of cost 10, behind which others of cost 1 wait; one unit a second unless stated. */
async function running(profile: Partial<Profile> = {}, first: Partial<JobSpec> = {}): Promise<ScriptShard> {
  const shard = redis.shard();
  const jobs = [{ id: 'j1', cost: 10, ...first }, { id: 'j2' }, { id: 'j3' }];
  await shard.admit('a', jobs, { ratePerSecond: 1, ...profile });
  await shard.take('t1');
  return shard;
}

/** µs until the job starts, and on what that rests. */
async function promised(shard: ScriptShard, id: string) {
  const found = await shard.read('a', id);
  return [found?.waitUs, found?.basis];
}

const done = (token: string, id: string) =>
  [
    { token, tenant: 'a', id },
    { kind: 'completed', value: '1' },
  ] as const;

describe('a job that costs more than was thought', () => {
  test('moves what waits behind it, and the promises to that', async () => {
    const shard = await running();
    expect(await promised(shard, 'j3')).toEqual([11 * SECOND, 'rate']);
    shard.nowUs += 4 * SECOND;
    expect(await shard.charge('t1', 25)).toBe(true);
    expect(await shard.take('t2')).toBe('nothing for 21000000 µs');
    expect(await promised(shard, 'j2')).toEqual([21 * SECOND, 'rate']);
    expect(await promised(shard, 'j3')).toEqual([22 * SECOND, 'rate']);
    expect((await shard.read('a', 'j1'))?.fields.get('hg:c')).toBe('25');
  });

  test('takes a bucket that was ready out of what is', async () => {
    const shard = await running({ burst: 100 });
    expect(await shard.redis.zcard(shard.key('ready'))).toBe(1);
    await shard.charge('t1', 120);
    expect(await shard.redis.zcard(shard.key('ready'))).toBe(0);
    expect(await shard.take('t2')).toBe('nothing for 21000000 µs');
  });

  test("fills the type's bucket too", async () => {
    const shard = redis.shard();
    await shard.configure({ emissionUs: SECOND });
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], UNLIMITED);
    await shard.take('t1');
    await shard.charge('t1', 6);
    expect(await shard.take('t2')).toBe('nothing for 6000000 µs');
  });

  test('lets others go first when slots are scarce, by its weight', async () => {
    const shard = redis.shard();
    const four = (mark: string) => Array.from({ length: 4 }, (_, i) => ({ id: `${mark}${i}` }));
    await shard.admit('a', four('a'), { ...UNLIMITED, weight: 2 });
    await shard.admit('b', four('b'), UNLIMITED);
    expect(await shard.take('t1')).toBe('a a0');
    await shard.charge('t1', 6);
    const served = [];
    for (let i = 0; i < 5; i += 1) served.push(await shard.take(`u${i}`));
    expect(served).toEqual(['b b0', 'b b1', 'b b2', 'a a1', 'b b3']);
  });
});

describe('a job that costs less than was thought', () => {
  test('lets what waits behind it start earlier, and wakes who sleeps', async () => {
    const shard = await running();
    expect(await shard.take('t2')).toBe('nothing for 10000000 µs');
    const ears = await wakeUps(shard);
    await shard.charge('t1', 3);
    expect(await ears.heard()).toEqual(['wake']);
    ears.close();
    expect(await shard.take('t2')).toBe('nothing for 3000000 µs');
    expect(await promised(shard, 'j3')).toEqual([4 * SECOND, 'rate']);
  });

  test("wakes those turned away at the type's rate, which opens earlier", async () => {
    const shard = redis.shard();
    await shard.configure({ emissionUs: SECOND });
    await shard.admit('a', [{ id: 'j1', cost: 10 }, { id: 'j2' }], UNLIMITED);
    await shard.take('t1');
    expect(await shard.take('t2')).toBe('nothing for 10000000 µs');
    const ears = await wakeUps(shard);
    await shard.charge('t1', 3);
    expect(await ears.heard()).toEqual(['wake']);
    ears.close();
    expect(await shard.take('t2')).toBe('nothing for 3000000 µs');
  });

  test('gives back nothing that has leaked: 10 units, of which 7 are gone, at most 3', async () => {
    const shard = await running({ depth: 100 });
    await shard.settle(...done('none', 'j0'));
    shard.nowUs += 7 * SECOND;
    await shard.charge('t1', 0.001);
    expect((await shard.inspect('a')).level).toBe(0);
    expect(await shard.take('t2')).toBe('a j2');
    expect(await shard.take('t3')).toBe('nothing for 1000000 µs');
  });

  test('gives back nothing of what later jobs took', async () => {
    const shard = await running();
    shard.nowUs += 10 * SECOND;
    await shard.admit('a', [{ id: 'j0', priority: 0, cost: 10 }], '');
    expect(await shard.take('t2')).toBe('a j0');
    shard.nowUs += SECOND;
    await shard.charge('t1', 1);
    expect((await shard.inspect('a')).level).toBe(9);
    await shard.charge('t2', 5);
    expect((await shard.inspect('a')).level).toBe(4);
  });

  test('earns no credit over those that were served meanwhile', async () => {
    const shard = redis.shard();
    const many = (mark: string) => Array.from({ length: 8 }, (_, i) => ({ id: `${mark}${i}` }));
    await shard.admit('a', [{ id: 'a', cost: 100 }], UNLIMITED);
    await shard.take('t0');
    await shard.admit('b', many('b'), UNLIMITED);
    for (let i = 0; i < 4; i += 1) expect(await shard.take(`b${i}`)).toBe(`b b${i}`);
    await shard.charge('t0', 1);
    await shard.admit('a', many('a'), UNLIMITED);
    const served = [];
    for (let i = 0; i < 6; i += 1) served.push((await shard.take(`u${i}`)).slice(0, 1));
    expect(served).toEqual(['a', 'a', 'b', 'a', 'b', 'a']);
  });
});

describe('the last word', () => {
  test('counts, however often it was another one', async () => {
    const shard = await running();
    for (const cost of [3, 700, 0.5, 20, 8]) await shard.charge('t1', cost);
    expect(await shard.inspect('a')).toMatchObject({ level: 8, running: 1 });
    expect(await shard.take('t2')).toBe('nothing for 8000000 µs');
  });

  test('said twice changes nothing', async () => {
    const shard = await running();
    await shard.charge('t1', 12.5);
    const before = await shard.redis.getBuffer(shard.bucketKey('a'));
    shard.nowUs += SECOND;
    expect(await shard.charge('t1', 12.5)).toBe(true);
    expect(await shard.redis.getBuffer(shard.bucketKey('a'))).toEqual(before);
  });

  test('is what a retry starts from', async () => {
    const shard = await running();
    await shard.charge('t1', 2);
    await shard.settle(done('t1', 'j1')[0], { kind: 'retry', value: 'no', delayMs: 0, front: true });
    expect(await shard.inspect('a')).toMatchObject({ level: 2, waitingCost: 4 });
    shard.nowUs += 2 * SECOND;
    expect(await shard.take('t2')).toBe('a j1');
    expect((await shard.inspect('a')).level).toBe(2);
  });

  test('of a job that paid at the door fills its bucket as well: the next is refused until then', async () => {
    const shard = redis.shard();
    const profile: Partial<Profile> = { mode: 'police', ratePerSecond: 1, burst: 5 };
    await shard.admit('a', [{ id: 'j1', cost: 2 }], profile);
    await shard.take('t1');
    await shard.charge('t1', 8);
    expect((await shard.admit('a', [{ id: 'j2' }], '')).first).toMatchObject({
      reason: 'rate_limited',
      retryUs: 4 * SECOND,
    });
    await shard.charge('t1', 1);
    expect((await shard.inspect('a')).level).toBe(1);
  });
});

test('a job that paid at the door gets all that it was charged back, when it ends without having run again', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1', cost: 2 }], { mode: 'police', ratePerSecond: 1, burst: 5 });
  await shard.take('t1');
  await shard.charge('t1', 8);
  await shard.settle(done('t1', 'j1')[0], { kind: 'retry', value: 'no', delayMs: 0, front: true });
  shard.nowUs += SECOND;
  await shard.cancel('a', 'j1');
  expect((await shard.inspect('a')).level).toBe(0);
});

describe('nobody charges', () => {
  test('a job that is another worker’s by now, or has ended', async () => {
    const shard = await running();
    await shard.dropLock('a', 'j1');
    await shard.recover(1);
    expect(await shard.charge('t1', 50)).toBe(false);
    expect((await shard.inspect('a')).level).toBe(10);
    shard.nowUs += 10 * SECOND;
    await shard.take('t2');
    await shard.settle(...done('t2', 'j1'));
    expect(await shard.charge('t2', 50)).toBe(false);
  });

  test('a job whose hash is gone', async () => {
    const shard = await running();
    await shard.redis.del(shard.queueKey('a', 'j1'));
    expect(await shard.charge('t1', 50)).toBe(false);
    expect(await shard.redis.exists(shard.queueKey('a', 'j1'))).toBe(0);
  });

  test.each(['0', '-1', 'nan', 'inf', '10000.1', 'x', ''])(
    '%s units: refused, and nothing is written',
    async (cost) => {
      const shard = await running();
      await expect(shard.run(scripts.charge, [shard.nowUs, 't1', cost])).rejects.toThrow(/a cost of/);
      expect((await shard.inspect('a')).level).toBe(10);
    },
  );
});

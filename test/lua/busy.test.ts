import { describe, expect, test } from 'vitest';
import type { Profile } from '../../src/model/profile.js';
import type { HoldScope, Outcome } from '../../src/shaping/work-source.js';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';

const redis = redisForTests();
const SECOND = 1_000_000;
const UNLIMITED: Partial<Profile> = { ratePerSecond: Infinity };
const RUN = { token: 't1', tenant: 'a', id: 'j1' };

const busy = (holdMs: number, scope: HoldScope = 'bucket'): Outcome => ({ kind: 'busy', value: '429', holdMs, scope });

/** A shard where token `t1` runs the first of three jobs of `a`, and `b` has jobs of its own. */
async function running(profile: Partial<Profile> = {}, cost = 1): Promise<ScriptShard> {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1', cost }, { id: 'j2' }, { id: 'j3' }], { ...UNLIMITED, ...profile });
  await shard.take('t1');
  await shard.admit('b', [{ id: 'b1' }, { id: 'b2' }], UNLIMITED);
  return shard;
}

describe('a job whose upstream is busy', () => {
  test('is at the front again, uses no attempt, and says how often that was', async () => {
    const shard = await running();
    expect(await shard.settle(RUN, busy(1000))).toMatchObject({ verdict: 'settled' });
    expect(await shard.waiting('a')).toEqual(['j1', 'j2', 'j3']);
    const fields = await shard.redis.hgetall(shard.queueKey('a', 'j1'));
    expect(fields).toMatchObject({ failedReason: '429', 'hg:n': '1' });
    expect(fields.atm).toBeUndefined();
    expect(await shard.inspect('a')).toMatchObject({ running: 0, waitingCost: 3, nextStartUs: SECOND });
  });

  test('is settled once: the same settle again says the same and changes nothing', async () => {
    const shard = await running({ ratePerSecond: 1 }, 5);
    const state = async () => [
      await shard.redis.hgetall(shard.queueKey('a', 'j1')),
      await shard.redis.getBuffer(shard.bucketKey('a')),
    ];
    const both = [busy(1000), busy(1000)].map((outcome) => ({ held: RUN, outcome, next: '' }));
    expect((await shard.settleAll(both)).map(({ verdict }) => verdict)).toEqual(['settled', 'settled']);
    const before = await state();
    shard.nowUs += 100;
    expect((await shard.settle(RUN, busy(1000))).verdict).toBe('settled');
    expect(await state()).toEqual(before);
    expect(await shard.redis.hget(shard.queueKey('a', 'j1'), 'hg:n')).toBe('1');
  });

  test('holds its bucket for so long, and nobody else', async () => {
    const shard = await running();
    await shard.settle(RUN, busy(3000));
    expect(await shard.take('t2')).toBe('b b1');
    expect(await shard.take('t3')).toBe('b b2');
    expect(await shard.take('t4')).toBe('nothing for 3000000 µs');
    shard.nowUs += 3 * SECOND - 1;
    expect(await shard.take('t5')).toBe('nothing for 1 µs');
    shard.nowUs += 1;
    expect(await shard.take('t6')).toBe('a j1');
  });

  test('gives its cost back: rate and jobRate are as if it had not started', async () => {
    const shard = await running({ ratePerSecond: 1, jobRatePerSecond: 0.1 }, 60);
    expect((await shard.inspect('a')).level).toBe(60);
    shard.nowUs += SECOND;
    await shard.settle(RUN, busy(2000));
    expect(await shard.inspect('a')).toMatchObject({ level: 0, nextStartUs: 2 * SECOND });
  });

  test('gives back nothing that has leaked', async () => {
    const shard = await running({ ratePerSecond: 1, burst: 3 }, 2);
    expect([await shard.take('t2'), await shard.take('t3'), await shard.take('t4')]).toContain('a j2');
    shard.nowUs += 1.5 * SECOND;
    expect((await shard.inspect('a')).level).toBe(1.5);
    await shard.settle(RUN, busy(0));
    expect((await shard.inspect('a')).level).toBe(1);
  });

  test('that paid at the door stays paid, and keeps the hold all the same', async () => {
    const shard = await running({ mode: 'police', ratePerSecond: 1, burst: 3 });
    await shard.settle(RUN, busy(2000));
    expect((await shard.inspect('a')).level).toBe(3);
    await shard.take('b1');
    await shard.take('b2');
    expect(await shard.take('t2')).toBe('nothing for 2000000 µs');
    shard.nowUs += 2 * SECOND;
    expect(await shard.take('t3')).toBe('a j1');
    expect((await shard.inspect('a')).level).toBe(1);
  });

  test('but was asked to stop is cancelled, and the hold stands', async () => {
    const shard = await running();
    await shard.cancel('a', 'j1');
    await shard.settle(RUN, busy(2000));
    expect((await shard.read('a', 'j1'))?.fields.get('hg:e')).toBe('cancelled');
    expect(await shard.inspect('a')).toMatchObject({ waiting: 2, nextStartUs: 2 * SECOND });
  });

  test('whose hash went missing leaves none behind', async () => {
    const shard = await running();
    await shard.redis.del(shard.queueKey('a', 'j1'));
    expect((await shard.settle(RUN, busy(10))).verdict).toBe('settled');
    expect(await shard.redis.exists(shard.queueKey('a', 'j1'))).toBe(0);
    expect(await shard.typeField('running')).toBe(0);
  });
});

describe('a hold of the type', () => {
  test('holds every tenant, and lets go by itself', async () => {
    const shard = await running();
    await shard.settle(RUN, busy(3000, 'type'));
    expect(await shard.take('t2')).toBe('nothing for 3000000 µs');
    await shard.admit('c', [{ id: 'c1' }], UNLIMITED);
    shard.nowUs += 3 * SECOND - 1;
    expect(await shard.take('t3')).toBe('nothing for 1 µs');
    shard.nowUs += 1;
    const served = [];
    for (let i = 0; i < 6; i += 1) served.push(await shard.take(`u${i}`));
    expect(served.sort()).toEqual(['a j1', 'a j2', 'a j3', 'b b1', 'b b2', 'c c1']);
  });

  test("ends without a burst above the type's capacity", async () => {
    const shard = redis.shard();
    await shard.configure({ emissionUs: SECOND, burst: 2, slackUs: 25_000 });
    const many = Array.from({ length: 20 }, (_, i) => ({ id: `j${i + 10}` }));
    await shard.admit('a', many, UNLIMITED);
    await shard.take('t1');
    await shard.settle({ ...RUN, id: 'j10' }, busy(60_000, 'type'));
    shard.nowUs += 60 * SECOND;
    const started = [];
    for (let i = 0; i < 5; i += 1) started.push(await shard.take(`u${i}`));
    expect(started.filter((each) => each.startsWith('a'))).toHaveLength(2);
    expect(started[2]).toBe('nothing for 975000 µs');
  });
});

describe('a hold', () => {
  test.each<HoldScope>(['bucket', 'type'])(
    'of the %s only ever ends by time: one that would end earlier does not',
    async (scope) => {
      const shard = await running();
      await shard.take('b1');
      await shard.take('b2');
      const second = { token: 't2', tenant: 'a', id: 'j2' };
      await shard.take('t2');
      await shard.settle(RUN, busy(5000, scope));
      shard.nowUs += SECOND;
      await shard.settle(second, busy(10, scope));
      expect(await shard.take('t3')).toBe('nothing for 4000000 µs');
    },
  );

  test('ends without a storm: the bucket goes on at its own rate', async () => {
    const shard = await running({ ratePerSecond: 1 });
    await shard.take('b1');
    await shard.take('b2');
    await shard.settle(RUN, busy(60_000));
    shard.nowUs += 60 * SECOND;
    expect(await shard.take('t2')).toBe('a j1');
    // What it was held is lateness, of which the slack is all that is made up for.
    expect(await shard.take('t3')).toBe('nothing for 750000 µs');
  });

  test('is in every promise, as one that rests on capacity', async () => {
    const shard = await running({ ratePerSecond: 1 });
    await shard.settle(RUN, busy(60_000));
    expect(await shard.read('a', 'j1')).toMatchObject({ position: 1, waitUs: 60 * SECOND, basis: 'capacity' });
    expect(await shard.read('a', 'j2')).toMatchObject({ waitUs: 60.75 * SECOND, basis: 'capacity' });
    expect((await shard.admit('a', [{ id: 'j4' }], '')).first).toMatchObject({
      waitUs: 62.75 * SECOND,
      basis: 'capacity',
    });
    const late = { id: 'j5', startByMs: shard.nowMs + 30_000 };
    expect((await shard.admit('a', [late], '')).first).toMatchObject({ reason: 'deadline_unreachable' });
    expect((await shard.admit('b', [{ id: 'b9' }], '')).first).toMatchObject({ waitUs: 0 });
  });

  test.each<HoldScope>(['bucket', 'type'])('of the %s outlives a re-rate and a pause', async (scope) => {
    const shard = await running();
    await shard.settle(RUN, busy(5000, scope));
    await shard.retime('a', { ratePerSecond: 500 });
    await shard.pause('a', true);
    await shard.pause('a', false);
    for (const token of ['b1', 'b2']) await shard.take(token);
    expect(await shard.take('t2')).toBe('nothing for 5000000 µs');
  });

  test('is not forgotten with a bucket that has nothing to do', async () => {
    const shard = redis.shard();
    shard.keepAgeMs = 10;
    await shard.admit('a', [{ id: 'j1' }], UNLIMITED);
    await shard.take('t1');
    await shard.settle(RUN, busy(200_000));
    await shard.cancel('a', 'j1');
    shard.nowUs += 100 * SECOND;
    await shard.sweep();
    await shard.admit('a', [{ id: 'j2' }], UNLIMITED);
    expect(await shard.take('t2')).toBe('nothing for 100000000 µs');
    await shard.cancel('a', 'j2');
    for (let i = 0; i < 3; i += 1) {
      shard.nowUs += 200 * SECOND;
      await shard.sweep();
    }
    expect(await shard.redis.exists(shard.bucketKey('a'))).toBe(0);
  });
});

import { expect, test } from 'vitest';
import { encodeTenant } from '../../src/redis/keys.js';
import { scripts } from '../../src/shaping/scripts.js';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';
import { wakeUps } from './wake-ups.js';

const redis = redisForTests();

const purge = (shard: ScriptShard, tenant: string, limit = 100) => {
  const argv = [shard.nowUs, encodeTenant(tenant), limit, shard.keepAgeMs, shard.keepCount];
  return shard.run(scripts.purge, argv);
};

test('what waits and what is delayed is cancelled; what runs is left alone', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'r' }, { id: 'w' }, { id: 'd', delayMs: 9000 }], { ratePerSecond: 10 });
  await shard.take('t1');
  expect(await purge(shard, 'a')).toEqual({ cancelled: 2, left: 0 });
  for (const id of ['w', 'd']) expect((await shard.read('a', id))?.fields.get('hg:e')).toBe('cancelled');
  expect((await shard.read('a', 'r'))?.state).toBe('active');
  expect(await shard.inspect('a')).toMatchObject({
    waiting: 0,
    delayed: 0,
    running: 1,
    waitingCost: 0,
    waitingBytes: 0,
  });
  const run = { token: 't1', tenant: 'a', id: 'r' };
  expect(await shard.settle(run, { kind: 'completed', value: '1' })).toMatchObject({ verdict: 'settled' });
});

test('an emptied bucket stands in no set of the schedule, and uses none of its rate', async () => {
  const shard = redis.shard();
  const jobs = [{ id: 'j1' }, { id: 'j2', startByMs: shard.nowMs + 9000 }, { id: 'j3', delayMs: 5 }];
  await shard.admit('a', jobs, { ratePerSecond: 1 });
  await purge(shard, 'a');
  expect(await shard.redis.exists(shard.key('due'), shard.key('ready'), shard.key('expire'))).toBe(0);
  await shard.admit('a', [{ id: 'j4' }], { ratePerSecond: 1 });
  expect(await shard.take('t1')).toBe('a j4');
});

test('no more than the limit, those that would start first, and it says how many are left', async () => {
  const shard = redis.shard();
  const jobs = [
    { id: 'late', priority: 9 },
    { id: 'j1' },
    { id: 'j2' },
    { id: 'first', priority: 0 },
    { id: 'd', delayMs: 5 },
  ];
  await shard.admit('a', jobs, { ratePerSecond: 1 });
  expect(await purge(shard, 'a', 3)).toEqual({ cancelled: 3, left: 2 });
  expect(await shard.waiting('a')).toEqual(['late']);
  expect(await purge(shard, 'a', 3)).toEqual({ cancelled: 2, left: 0 });
  expect(await purge(shard, 'a', 3)).toEqual({ cancelled: 0, left: 0 });
});

test('other tenants keep their jobs and their places', async () => {
  const shard = redis.shard();
  for (const tenant of ['a', 'b']) await shard.admit(tenant, [{ id: `${tenant}1` }], { ratePerSecond: 1 });
  await purge(shard, 'a');
  expect(await shard.take('t1')).toBe('b b1');
});

test('cancelled jobs are kept like any result, and no more of them than that', async () => {
  const shard = redis.shard();
  shard.keepCount = 2;
  await shard.admit(
    'a',
    [0, 1, 2, 3].map((i) => ({ id: `j${i}`, idempotencyKey: `k${i}` })),
  );
  expect(await purge(shard, 'a')).toEqual({ cancelled: 4, left: 0 });
  expect(await shard.redis.zcard(shard.queueKey('a', 'failed'))).toBe(2);
  expect(await shard.redis.exists(shard.key('idem:a:k0'))).toBe(0);
  expect(await shard.redis.exists(shard.key('idem:a:k3'))).toBe(1);
});

test('a bucket that is paused stays paused', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }]);
  await shard.pause('a', true);
  await purge(shard, 'a');
  await shard.admit('a', [{ id: 'j2' }]);
  expect(await shard.take('t1')).toBe('nothing for ever µs');
});

test('part of a backlog gone, the rest starts no later than its rate says, and workers are told', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }, { id: 'big', cost: 50 }, { id: 'j3' }], { ratePerSecond: 1 });
  await shard.take('t0');
  await shard.take('t1');
  const ears = await wakeUps(shard);
  await purge(shard, 'a', 1);
  shard.nowUs += 1_000_000;
  expect(await shard.take('t2')).toBe('a j3');
  ears.close();
});

test('a tenant that has no bucket gets none', async () => {
  const shard = redis.shard();
  expect(await purge(shard, 'nobody')).toEqual({ cancelled: 0, left: 0 });
  expect(await shard.keys()).toEqual([]);
});

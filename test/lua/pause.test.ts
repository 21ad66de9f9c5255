import { expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';
import { wakeUps } from './wake-ups.js';

const redis = redisForTests();
const UNLIMITED = { ratePerSecond: Infinity };

test('a bucket that is stopped starts nothing, and lets what runs end', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], UNLIMITED);
  await shard.take('t1');
  await shard.pause('a', true);
  expect(await shard.take('t2')).toBe('nothing for ever µs');
  const run = { token: 't1', tenant: 'a', id: 'j1' };
  expect(await shard.settle(run, { kind: 'completed', value: '1' }, 't2')).toMatchObject({
    verdict: 'settled',
    next: { kind: 'nothing', waitUs: null },
  });
});

test('it still lets jobs in, which is no promise of a start', async () => {
  const shard = redis.shard();
  await shard.pause('a', true);
  expect((await shard.admit('a', [{ id: 'j1' }], { ratePerSecond: 1 })).first).toMatchObject({ basis: 'capacity' });
  expect((await shard.inspect('a')).nextStartUs).toBeNull();
});

test('going on wakes a worker, and starts without a burst', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }, { id: 'j3' }], { ratePerSecond: 10 });
  await shard.pause('a', true);
  shard.nowUs += 60_000_000;
  const ears = await wakeUps(shard);
  await shard.pause('a', false);
  expect(await ears.heard()).toEqual(['wake']);
  expect(await shard.take('t1')).toBe('a j1');
  // A slack of half an interval is what lateness may save up.
  expect(await shard.take('t2')).toBe('nothing for 50000 µs');
  ears.close();
});

test('a profile that pauses and a hand that stops are two things: both must let go', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }], { ratePerSecond: 0 });
  await shard.pause('a', true);
  await shard.retime('a', { ratePerSecond: 5 });
  expect(await shard.take('t1')).toBe('nothing for ever µs');
  await shard.retime('a', { ratePerSecond: 0 });
  await shard.pause('a', false);
  expect(await shard.take('t1')).toBe('nothing for ever µs');
  await shard.retime('a', { ratePerSecond: 5 });
  expect(await shard.take('t1')).toBe('a j1');
});

test('a quiet bucket stays stopped however often it is swept, and is forgotten once it goes on', async () => {
  const shard = redis.shard();
  await shard.pause('a', true);
  for (let i = 0; i < 3; i += 1) {
    shard.nowUs += 61_000_000;
    await shard.sweep();
  }
  await shard.admit('a', [{ id: 'j1' }], UNLIMITED);
  expect(await shard.take('t1')).toBe('nothing for ever µs');
  await shard.cancel('a', 'j1');
  await shard.pause('a', false);
  shard.nowUs += 7_200_000_000;
  await shard.sweep();
  expect(await shard.redis.exists(shard.bucketKey('a'))).toBe(0);
});

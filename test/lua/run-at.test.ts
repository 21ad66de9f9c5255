import { expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';

const redis = redisForTests();

test('a job joins its queue at the instant that it named, by the clock of Redis', async () => {
  const shard = redis.shard();
  const at = shard.nowMs + 90_000;
  const { first } = await shard.admit('a', [{ id: 'j1', runAtMs: at }]);
  expect(first).toEqual({
    kind: 'admitted',
    id: 'j1',
    between: null,
    state: 'delayed',
    position: 0,
    waitUs: 90_000_000,
    basis: 'delay',
  });
  const fields = (await shard.read('a', 'j1'))?.fields;
  expect(JSON.parse((await shard.redis.hget(shard.queueKey('a', 'j1'), 'opts')) ?? '')).toMatchObject({
    delay: 90_000,
  });
  expect(fields?.get('timestamp')).toBe(String(shard.nowMs));
  shard.nowUs += 89_999_000;
  expect(await shard.take('t1')).toBe('nothing for 1000 µs');
  shard.nowUs += 1000;
  expect(await shard.take('t2')).toBe('a j1');
});

test('between two milliseconds it does not join early', async () => {
  const shard = redis.shard();
  shard.nowUs += 400;
  const at = Math.floor(shard.nowMs) + 10;
  const { first } = await shard.admit('a', [{ id: 'j1', runAtMs: at }]);
  expect(first).toMatchObject({ state: 'delayed', waitUs: 9600 });
});

test.each([
  ['has passed', -1],
  ['passed long ago', -1e12],
  ['is now', 0],
])('an instant that %s is now', async (_, distanceMs) => {
  const shard = redis.shard();
  const { first } = await shard.admit('a', [{ id: 'j1', runAtMs: shard.nowMs + distanceMs }]);
  expect(first).toMatchObject({ kind: 'admitted', state: 'waiting', position: 1, basis: 'rate' });
  expect(JSON.parse((await shard.redis.hget(shard.queueKey('a', 'j1'), 'opts')) ?? '')).not.toHaveProperty('delay');
  expect(await shard.take('t1')).toBe('a j1');
});

test('a clock that stepped back is made up for: the instant is one of the real clock', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }], { ratePerSecond: Infinity });
  await shard.take('t1');
  shard.nowUs -= 60_000_000;
  const { first } = await shard.admit('a', [{ id: 'j2', runAtMs: shard.nowMs + 5000 }], { ratePerSecond: Infinity });
  expect(first).toMatchObject({ state: 'delayed', waitUs: 5_000_000 });
});

test('a startBy before it cannot be kept', async () => {
  const shard = redis.shard();
  const { first } = await shard.admit('a', [{ id: 'j1', runAtMs: shard.nowMs + 5000, startByMs: shard.nowMs + 4000 }]);
  expect(first).toMatchObject({ kind: 'rejected', reason: 'deadline_unreachable', waitUs: 5_000_000 });
});

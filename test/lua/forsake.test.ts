import { expect, test } from 'vitest';
import { scripts } from '../../src/shaping/scripts.js';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';

const redis = redisForTests();
const UNLIMITED = { ratePerSecond: Infinity };

const forsake = (shard: ScriptShard, limit = 100) =>
  shard.run(scripts.forsake, [shard.nowUs, limit, shard.keepAgeMs, shard.keepCount, 'nobody is there']);

test('what waits, is delayed or stands in a paused bucket fails for the reason, and keeps its payload', async () => {
  const shard = redis.shard();
  await shard.admit(
    'a',
    [
      { id: 'a1', data: '{"x":1}' },
      { id: 'a2', delayMs: 60_000 },
    ],
    UNLIMITED,
  );
  await shard.admit('b', [{ id: 'b1' }], { ratePerSecond: 0 });
  expect(await forsake(shard)).toEqual({ failed: 3, left: 2 });
  for (const [tenant, id] of [
    ['a', 'a1'],
    ['a', 'a2'],
    ['b', 'b1'],
  ] as const) {
    const found = await shard.read(tenant, id);
    expect([found?.state, found?.fields.get('failedReason'), found?.fields.has('hg:e')]).toEqual([
      ...['failed', 'nobody is there', false],
    ]);
  }
  expect(await shard.redis.hget(shard.queueKey('a', 'a1'), 'data')).toBe('{"x":1}');
  expect(await shard.inspect('a')).toMatchObject({ waiting: 0, delayed: 0, waitingCost: 0, waitingBytes: 0 });
  expect((await shard.sweep()).unseen.map(({ ending, reason }) => `${ending} ${reason}`)).toEqual(
    Array.from({ length: 3 }, () => 'failed nobody is there'),
  );
});

test('one call fails at most what it is told to, and says what is left; what runs is left alone', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'a1' }, { id: 'a2' }, { id: 'a3' }], UNLIMITED);
  await shard.admit('b', [{ id: 'b1' }], UNLIMITED);
  await shard.take('t1');
  expect((await forsake(shard, 2)).failed).toBe(2);
  expect((await forsake(shard, 2)).failed).toBe(1);
  // The run, and the buckets with what is kept.
  expect(await forsake(shard, 2)).toEqual({ failed: 0, left: 3 });
});

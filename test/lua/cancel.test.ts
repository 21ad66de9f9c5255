import { describe, expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';
import { wakeUps } from './wake-ups.js';

const redis = redisForTests();
const UNLIMITED = { ratePerSecond: Infinity };

describe('a job that', () => {
  test('waits is cancelled, frees its place and uses no rate', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2', cost: 9, data: '"xx"' }, { id: 'j3' }], { ratePerSecond: 1 });
    await shard.take('t1');
    expect(await shard.cancel('a', 'j2')).toBe('cancelled');
    expect(await shard.waiting('a')).toEqual(['j3']);
    expect(await shard.inspect('a')).toMatchObject({ waitingCost: 1, waitingBytes: 2 });
    const found = await shard.read('a', 'j2');
    expect(found?.fields.get('hg:e')).toBe('cancelled');
    expect(found?.fields.get('finishedOn')).toBe(String(shard.nowMs));
    shard.nowUs += 1_000_000;
    expect(await shard.take('t2')).toBe('a j3');
  });

  test('is delayed is cancelled, and the bucket waits for the next one', async () => {
    const shard = redis.shard();
    await shard.admit(
      'a',
      [
        { id: 'd1', delayMs: 10 },
        { id: 'd2', delayMs: 30 },
      ],
      UNLIMITED,
    );
    expect(await shard.cancel('a', 'd1')).toBe('cancelled');
    expect(await shard.take('t1')).toBe('nothing for 30000 µs');
  });

  test('runs is asked to stop, and its worker told', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }], UNLIMITED);
    await shard.take('t1');
    const ears = await wakeUps(shard);
    expect(await shard.cancel('a', 'j1')).toBe('cancel_requested');
    expect(await ears.heard()).toEqual(['cancel j1']);
    expect((await shard.read('a', 'j1'))?.state).toBe('active');
    expect(await shard.renew(['t1'])).toEqual({ lostTokens: [], cancelRequestedIds: ['j1'] });
    ears.close();
  });

  test('ended stays as it is', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], UNLIMITED);
    await shard.take('t1');
    await shard.settle({ token: 't1', tenant: 'a', id: 'j1' }, { kind: 'completed', value: '1' });
    await shard.cancel('a', 'j2');
    expect(await shard.cancel('a', 'j1')).toBe('already_ended');
    expect(await shard.cancel('a', 'j2')).toBe('already_ended');
    expect((await shard.read('a', 'j1'))?.state).toBe('completed');
  });

  test('is unknown, or another tenant has, is not found', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }]);
    expect(await shard.cancel('a', 'j2')).toBe('not_found');
    expect(await shard.cancel('b', 'j1')).toBe('not_found');
    expect(await shard.keys()).not.toContain('bucket:b');
  });
});

test('cancelling the head lets the next one go, without waiting for it', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], { ratePerSecond: 1 });
  await shard.cancel('a', 'j1');
  expect(await shard.take('t1')).toBe('a j2');
});

test('cancelling all that waits leaves the bucket in neither set', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }, { id: 'j2', delayMs: 5 }, { id: 'j3', startByMs: shard.nowMs + 9000 }]);
  for (const id of ['j1', 'j2', 'j3']) expect(await shard.cancel('a', id)).toBe('cancelled');
  expect(await shard.redis.exists(shard.key('due'), shard.key('ready'), shard.key('expire'))).toBe(0);
});

test('a cancelled job is kept as long as any result, and no more of them than that', async () => {
  const shard = redis.shard();
  shard.keepCount = 2;
  await shard.admit(
    'a',
    [0, 1, 2].map((i) => ({ id: `j${i}`, idempotencyKey: `k${i}` })),
  );
  for (const i of [0, 1, 2]) {
    shard.nowUs += 1000;
    await shard.cancel('a', `j${i}`);
  }
  expect(await shard.read('a', 'j0')).toBeUndefined();
  expect(await shard.redis.exists(shard.key('idem:a:k0'))).toBe(0);
  expect((await shard.read('a', 'j2'))?.state).toBe('failed');
});

import { expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';

const redis = redisForTests();
const UNLIMITED = { ratePerSecond: Infinity };

test('the locks of what runs last for as long again', async () => {
  const shard = redis.shard();
  shard.lockMs = 1000;
  await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], UNLIMITED);
  for (const token of ['t1', 't2']) await shard.take(token);
  shard.lockMs = 500_000;
  expect(await shard.renew(['t1', 't2'])).toEqual({ lostTokens: [], cancelRequestedIds: [] });
  for (const id of ['j1', 'j2']) {
    expect(await shard.redis.pttl(`${shard.queueKey('a', id)}:lock`)).toBeGreaterThan(400_000);
  }
});

test('a lock that ran out, but that nobody took over, is taken again', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }], UNLIMITED);
  await shard.take('t1');
  await shard.dropLock('a', 'j1');
  expect(await shard.renew(['t1'])).toMatchObject({ lostTokens: [] });
  expect(await shard.recover(1)).toMatchObject({ returnedIds: [] });
});

test('a token whose job was taken back is lost, and gets no lock', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }], UNLIMITED);
  await shard.take('t1');
  await shard.dropLock('a', 'j1');
  await shard.recover(1);
  await shard.take('t2');
  expect(await shard.renew(['t1', 't2', 'unheard-of'])).toEqual({
    lostTokens: ['t1', 'unheard-of'],
    cancelRequestedIds: [],
  });
  expect(await shard.redis.get(`${shard.queueKey('a', 'j1')}:lock`)).toBe('t2');
});

test('jobs that were asked to stop are named each time', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], UNLIMITED);
  for (const token of ['t1', 't2']) await shard.take(token);
  await shard.cancel('a', 'j2');
  for (let i = 0; i < 2; i += 1) expect((await shard.renew(['t1', 't2'])).cancelRequestedIds).toEqual(['j2']);
});

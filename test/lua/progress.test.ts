import { expect, test } from 'vitest';
import { scripts } from '../../src/shaping/scripts.js';
import { redisForTests } from './redis-for-tests.js';

const redis = redisForTests();

test('progress is stored with the job and told to those who follow its events', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }]);
  await shard.take('t1');
  expect(await shard.run(scripts.progress, ['t1', '{"page":3}'])).toBe(true);
  expect((await shard.read('a', 'j1'))?.fields.get('progress')).toBe('{"page":3}');
  const [last] = await shard.redis.xrevrange(shard.key('events'), '+', '-', 'COUNT', 1);
  expect(last?.[1]).toEqual(['event', 'progress', 'jobId', 'j1', 'data', '{"page":3}']);
});

test('a worker that lost its job stores nothing', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }]);
  await shard.take('t1');
  await shard.dropLock('a', 'j1');
  await shard.recover(1);
  expect(await shard.run(scripts.progress, ['t1', '1'])).toBe(false);
  expect((await shard.read('a', 'j1'))?.fields.has('progress')).toBe(false);
});

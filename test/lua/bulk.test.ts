import { expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';
import { followServer, shapedQueue } from './shaped-queue.js';

const redis = redisForTests();
const FAST = { ratePerSecond: Number.POSITIVE_INFINITY };

test("BullMQ's promoteJobs lets delayed jobs join in their order, each under its own priority", async () => {
  const shard = redis.shard();
  const queue = await shapedQueue(shard, 'a', FAST);
  await queue.addBulk([
    { name: 'x', data: {}, opts: { jobId: 'later', delay: 90_000 } },
    { name: 'x', data: {}, opts: { jobId: 'sooner', delay: 60_000 } },
    { name: 'x', data: {}, opts: { jobId: 'first', priority: 1 } },
  ]);
  await queue.promoteJobs();
  expect(await shard.waiting('a')).toEqual(['first', 'sooner', 'later']);
  expect(await shard.inspect('a')).toMatchObject({ waiting: 3, delayed: 0, waitingCost: 3 });
});

test("BullMQ's retryJobs lets failed jobs wait again, behind what waits in their priority", async () => {
  const shard = redis.shard();
  const queue = await shapedQueue(shard, 'a', FAST);
  for (const id of ['j1', 'j2']) await queue.add('x', {}, { jobId: id });
  await followServer(shard);
  for (const id of ['j1', 'j2']) {
    expect(await shard.take(`t-${id}`)).toBe(`a ${id}`);
    await shard.settle({ token: `t-${id}`, tenant: 'a', id }, { kind: 'failed', value: 'no' });
  }
  await queue.add('x', {}, { jobId: 'j3' });
  await queue.retryJobs({ state: 'failed' });
  expect(await shard.waiting('a')).toEqual(['j3', 'j1', 'j2']);
  expect(await queue.getJobCounts('failed')).toEqual({ failed: 0 });
});

import { describe, expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';
import { followServer, shapedQueue } from './shaped-queue.js';

const redis = redisForTests();
const UNLIMITED = { ratePerSecond: Infinity };

/** A job of a shaped queue, as BullMQ gives it. */
async function jobOf(queue: Awaited<ReturnType<typeof shapedQueue>>, id: string) {
  const job = await queue.getJob(id);
  if (!job) throw new Error(`no job ${id}`);
  return job;
}

describe('promote', () => {
  test('a delayed job waits at once, counted', async () => {
    const shard = redis.shard();
    const queue = await shapedQueue(shard, 'a', UNLIMITED);
    await shard.admit('a', [{ id: 'd1', delayMs: 60_000, cost: 3, data: '"xy"' }], UNLIMITED);
    await (await jobOf(queue, 'd1')).promote();
    expect(await shard.inspect('a')).toMatchObject({ waiting: 1, delayed: 0, waitingCost: 3, waitingBytes: 4 });
    await followServer(shard);
    expect(await shard.take('t1')).toBe('a d1');
  });
});

describe('changeDelay', () => {
  test('the bucket is due at the new instant', async () => {
    const shard = redis.shard();
    const queue = await shapedQueue(shard, 'a', UNLIMITED);
    await shard.admit('a', [{ id: 'd1', delayMs: 60_000 }], UNLIMITED);
    await (await jobOf(queue, 'd1')).changeDelay(3_600_000);
    await followServer(shard);
    const due = Number(await shard.redis.zscore(shard.key('due'), 'a'));
    expect(due - shard.nowUs).toBeGreaterThan(3_500_000_000);
    expect(await shard.inspect('a')).toMatchObject({ delayed: 1, waitingBytes: 2 });
  });
});

describe('changePriority', () => {
  test('the waiting cost moves to the new priority', async () => {
    const shard = redis.shard();
    const queue = await shapedQueue(shard, 'a', { ratePerSecond: 1 });
    await shard.admit('a', [{ id: 'j1', cost: 4 }, { id: 'j2' }], { ratePerSecond: 1 });
    await (await jobOf(queue, 'j1')).changePriority({ priority: 9 });
    expect(await shard.waiting('a')).toEqual(['j2', 'j1']);
    expect(await shard.bucketField('a', 'w5')).toBe(1);
    expect(await shard.bucketField('a', 'w9')).toBe(4);
    expect(await shard.read('a', 'j1')).toMatchObject({ position: 2 });
  });
});

describe('remove', () => {
  test('a waiting job frees its place, and leaves neither its idempotency key nor its start-by', async () => {
    const shard = redis.shard();
    const queue = await shapedQueue(shard, 'a', { ratePerSecond: 1 });
    const job = { id: 'j1', cost: 4, idempotencyKey: 'k', startByMs: shard.nowMs + 60_000 };
    await shard.admit('a', [job], { ratePerSecond: 1 });
    await (await jobOf(queue, 'j1')).remove();
    expect(await shard.inspect('a')).toMatchObject({ waiting: 0, waitingCost: 0, waitingBytes: 0 });
    expect(await shard.redis.exists(shard.key('idem:a:k'), shard.key('expire'), shard.key('ready'))).toBe(0);
  });

  test('the last job of a tenant leaves a bucket that a sweep forgets', async () => {
    const shard = redis.shard();
    const queue = await shapedQueue(shard, 'a', { ratePerSecond: 1 });
    await shard.admit('a', [{ id: 'j1' }], { ratePerSecond: 1 });
    await (await jobOf(queue, 'j1')).remove();
    await followServer(shard);
    shard.nowUs += 61_000_000;
    expect((await shard.sweep()).forgotten).toBe(1);
    expect((await shard.keys()).filter((key) => key.includes(':a'))).toEqual([]);
  });

  test('a running job whose lock ran out gives its slot back', async () => {
    const shard = redis.shard();
    const queue = await shapedQueue(shard, 'a', UNLIMITED);
    await shard.admit('a', [{ id: 'j1' }], UNLIMITED);
    await shard.take('t1');
    await shard.dropLock('a', 'j1');
    await (await jobOf(queue, 'j1')).remove();
    expect(await shard.typeField('running')).toBe(0);
    const { verdict } = await shard.settle({ token: 't1', tenant: 'a', id: 'j1' }, { kind: 'completed', value: '1' });
    expect(verdict).toBe('settled');
    expect(await shard.typeField('running')).toBe(0);
    expect(await shard.redis.exists(shard.key('running'))).toBe(0);
  });
});

describe('retry', () => {
  test('a job that ended waits again, at the back, with nothing left of its ending', async () => {
    const shard = redis.shard();
    const queue = await shapedQueue(shard, 'a', UNLIMITED);
    await shard.admit('a', [{ id: 'j1', cost: 2 }, { id: 'j2' }], UNLIMITED);
    await shard.take('t1');
    await shard.settle({ token: 't1', tenant: 'a', id: 'j1' }, { kind: 'cancelled', value: 'cancelled' });
    await (await jobOf(queue, 'j1')).retry('failed');
    expect(await shard.waiting('a')).toEqual(['j2', 'j1']);
    expect(await shard.inspect('a')).toMatchObject({ waitingCost: 3, waitingBytes: 4 });
    await followServer(shard);
    await shard.take('t2');
    await shard.take('t3');
    await shard.settle({ token: 't3', tenant: 'a', id: 'j1' }, { kind: 'failed', value: 'bad' });
    const found = await shard.read('a', 'j1');
    expect(found?.fields.get('failedReason')).toBe('bad');
    expect(found?.fields.has('hg:e')).toBe(false);
  });

  test('a job that was cancelled before it started has no payload any more, and stays as it is', async () => {
    const shard = redis.shard();
    const queue = await shapedQueue(shard, 'a', UNLIMITED);
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2', delayMs: 60_000 }], UNLIMITED);
    for (const id of ['j1', 'j2']) {
      await shard.cancel('a', id);
      await expect((await jobOf(queue, id)).retry('failed')).rejects.toThrow('not in the failed state');
      const found = await shard.read('a', id);
      expect(found?.fields.has('data')).toBe(false);
      expect(found?.fields.get('hg:e')).toBe('cancelled');
    }
    expect(await shard.waiting('a')).toEqual([]);
    expect(await shard.inspect('a')).toMatchObject({ waiting: 0, waitingCost: 0, waitingBytes: 0 });
  });
});

test('a job that there is not is an error, and changes nothing', async () => {
  const shard = redis.shard();
  const queue = await shapedQueue(shard, 'a', UNLIMITED);
  await shard.admit('a', [{ id: 'j1' }], UNLIMITED);
  const job = await jobOf(queue, 'j1');
  await shard.take('t1');
  await expect(job.promote()).rejects.toThrow(/not in the delayed state/);
  expect(await shard.inspect('a')).toMatchObject({ waiting: 0, running: 1, waitingCost: 0 });
});

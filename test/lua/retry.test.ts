import { describe, expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';
import type { JobSpec, ScriptShard } from './script-shard.js';
import { wakeUps } from './wake-ups.js';

const redis = redisForTests();
const UNLIMITED = { ratePerSecond: Infinity };
const RETRIED = { kind: 'retried' };

/** Admits jobs of tenant `a` and lets all of them fail. */
async function failed(shard: ScriptShard, jobs: readonly JobSpec[]): Promise<void> {
  await shard.admit('a', jobs, UNLIMITED);
  for (const { id } of jobs) {
    await shard.take(`of ${id}`);
    await shard.settle({ token: `of ${id}`, tenant: 'a', id }, { kind: 'failed', value: 'no good' });
  }
}

describe('a failed job', () => {
  test('waits again at the back of its priority, with all its attempts and nothing of its end', async () => {
    const shard = redis.shard();
    await failed(shard, [{ id: 'j1', priority: 2, cost: 3, data: '"xx"' }]);
    await shard.admit('a', [{ id: 'j2', priority: 2 }, { id: 'j3' }], '');
    expect(await shard.retry('a', ['j1'])).toEqual([RETRIED]);
    expect(await shard.waiting('a')).toEqual(['j2', 'j1', 'j3']);
    expect(await shard.inspect('a')).toMatchObject({ waitingCost: 5, waitingBytes: 8, running: 0 });
    const found = await shard.read('a', 'j1');
    expect(found?.state).toBe('waiting');
    for (const gone of ['atm', 'finishedOn', 'processedOn', 'failedReason'])
      expect(found?.fields.has(gone)).toBe(false);
    expect((await shard.page('a', 'failed')).ids).toEqual([]);
  });

  test('uses rate when it starts again', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }], { ratePerSecond: 1 });
    await shard.take('t1');
    await shard.settle({ token: 't1', tenant: 'a', id: 'j1' }, { kind: 'failed', value: 'no good' });
    await shard.retry('a', ['j1']);
    expect(await shard.take('t2')).toBe('nothing for 1000000 µs');
    shard.nowUs += 1_000_000;
    expect(await shard.take('t2')).toBe('a j1');
  });

  test('of a bucket that charges at the door waits for its rate', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }], { ratePerSecond: 1, burst: 1, mode: 'police' });
    await shard.take('t1');
    await shard.settle({ token: 't1', tenant: 'a', id: 'j1' }, { kind: 'failed', value: 'no good' });
    await shard.retry('a', ['j1']);
    expect(await shard.take('t2')).toBe('nothing for 1000000 µs');
  });

  test('wakes idle workers', async () => {
    const shard = redis.shard();
    await failed(shard, [{ id: 'j1' }]);
    const ears = await wakeUps(shard);
    await shard.retry('a', ['j1']);
    expect(await ears.heard()).toEqual(['wake']);
    ears.close();
  });

  test('may be settled by its new holder alone', async () => {
    const shard = redis.shard();
    await failed(shard, [{ id: 'j1' }]);
    await shard.retry('a', ['j1']);
    expect(await shard.take('t2')).toBe('a j1');
    const old = await shard.settle({ token: 'of j1', tenant: 'a', id: 'j1' }, { kind: 'completed', value: '"old"' });
    expect(old.verdict).toBe('lost');
    await shard.settle({ token: 't2', tenant: 'a', id: 'j1' }, { kind: 'completed', value: '"new"' });
    expect((await shard.read('a', 'j1'))?.fields.get('returnvalue')).toBe('"new"');
  });
});

describe('retry', () => {
  test('leaves alone what has not failed, what another tenant has, and what is not there', async () => {
    const shard = redis.shard();
    await failed(shard, [{ id: 'f1' }]);
    await shard.admit('a', [{ id: 'w1' }, { id: 'c1' }, { id: 'd1', delayMs: 60_000 }, { id: 'j1', priority: 0 }], '');
    await shard.cancel('a', 'c1');
    await shard.take('t1');
    await shard.settle({ token: 't1', tenant: 'a', id: 'j1' }, { kind: 'completed', value: '1' });
    const verdicts = await shard.retry('a', ['w1', 'c1', 'd1', 'j1', 'none']);
    expect(verdicts.map(({ kind }) => kind)).toEqual([...Array(4).fill('not_failed'), 'not_found']);
    expect(await shard.retry('b', ['f1'])).toEqual([{ kind: 'not_found' }]);
    expect(await shard.waiting('a')).toEqual(['w1']);
  });

  test('does it once, however often it is asked', async () => {
    const shard = redis.shard();
    await failed(shard, [{ id: 'j1' }]);
    expect(await shard.retry('a', ['j1', 'j1'])).toEqual([RETRIED, { kind: 'not_failed' }]);
    expect(await shard.inspect('a')).toMatchObject({ waiting: 1, waitingCost: 1, waitingBytes: 2 });
  });

  test('never makes more wait than depth, delayed jobs included', async () => {
    const shard = redis.shard();
    await failed(shard, [{ id: 'j1' }, { id: 'j2' }, { id: 'j3' }]);
    await shard.admit('a', [{ id: 'd1', delayMs: 5000 }], '');
    const full = { kind: 'bucket_full', limit: 'depth', retryUs: expect.any(Number) };
    expect(await shard.retry('a', ['j1', 'j2', 'j3'], { ...UNLIMITED, depth: 2 })).toEqual([RETRIED, full, full]);
    expect((await shard.page('a', 'failed')).ids).toEqual(['j2', 'j3']);
  });

  test('never makes payloads exceed maxBytes', async () => {
    const shard = redis.shard();
    await failed(shard, [
      { id: 'j1', data: '"1234"' },
      { id: 'j2', data: '"1234"' },
    ]);
    const full = { kind: 'bucket_full', limit: 'maxBytes', retryUs: 0 };
    expect(await shard.retry('a', ['j1', 'j2'], { ...UNLIMITED, maxBytes: 11 })).toEqual([RETRIED, full]);
    expect(await shard.inspect('a')).toMatchObject({ waitingBytes: 6 });
  });
});

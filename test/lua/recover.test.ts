import { describe, expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';
import { wakeUps } from './wake-ups.js';

const redis = redisForTests();
const UNLIMITED = { ratePerSecond: Infinity };

/** A shard where `t1` runs job `j1` of tenant `a`, whose worker died; `j2` waits behind it. */
async function abandoned(): Promise<ScriptShard> {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1', data: '"xy"' }, { id: 'j2' }], UNLIMITED);
  await shard.take('t1');
  await shard.dropLock('a', 'j1');
  return shard;
}

test('a job whose lock holds is left alone', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }], UNLIMITED);
  await shard.take('t1');
  expect(await shard.recover(1)).toEqual({ cursor: '0', returnedIds: [], endedIds: [] });
  expect((await shard.read('a', 'j1'))?.state).toBe('active');
});

test('a job whose lock ran out waits again, at the front of its priority, and its slot is free', async () => {
  const shard = await abandoned();
  await shard.admit('a', [{ id: 'urgent', priority: 0 }], '');
  expect(await shard.recover(1)).toEqual({ cursor: '0', returnedIds: ['j1'], endedIds: [] });
  expect(await shard.waiting('a')).toEqual(['urgent', 'j1', 'j2']);
  expect(await shard.inspect('a')).toMatchObject({ running: 0, waitingCost: 3, waitingBytes: 8 });
  expect(await shard.typeField('running')).toBe(0);
  expect(await shard.redis.exists(shard.key('running'))).toBe(0);
});

test('one that stalled too often fails with a reason', async () => {
  const shard = await abandoned();
  await shard.recover(1);
  await shard.take('t2');
  await shard.dropLock('a', 'j1');
  expect(await shard.recover(1)).toEqual({ cursor: '0', returnedIds: [], endedIds: ['j1'] });
  const found = await shard.read('a', 'j1');
  expect(found?.state).toBe('failed');
  expect(found?.fields.get('failedReason')).toBe('stalled more than 1 times');
});

test('one that was asked to stop is cancelled', async () => {
  const shard = await abandoned();
  await shard.cancel('a', 'j1');
  expect(await shard.recover(1)).toMatchObject({ returnedIds: [], endedIds: ['j1'] });
  expect((await shard.read('a', 'j1'))?.fields.get('hg:e')).toBe('cancelled');
});

describe('one whose hash went missing', () => {
  test('only gives its slot back, also when it is the only one', async () => {
    const shard = redis.shard();
    await shard.configure({ concurrency: 1 });
    await shard.admit('a', [{ id: 'j1' }], UNLIMITED);
    await shard.take('t1');
    await shard.redis.del(shard.queueKey('a', 'j1'));
    await shard.dropLock('a', 'j1');
    expect(await shard.recover(1)).toMatchObject({ returnedIds: [], endedIds: [] });
    expect(await shard.typeField('running')).toBe(0);
    await shard.admit('a', [{ id: 'j2' }], UNLIMITED);
    expect(await shard.take('t2')).toBe('a j2');
  });
});

test('workers are told when a job waits again', async () => {
  const shard = await abandoned();
  const ears = await wakeUps(shard);
  await shard.recover(1);
  expect(await ears.heard()).toEqual(['wake']);
  ears.close();
});

test("workers turned away at the type's concurrency are told that there is room", async () => {
  const shard = redis.shard();
  await shard.configure({ concurrency: 1 });
  await shard.admit('a', [{ id: 'j1' }], UNLIMITED);
  await shard.take('t1');
  await shard.admit('b', [{ id: 'j2' }], UNLIMITED);
  expect(await shard.take('sleeper')).toBe('nothing for ever µs');
  await shard.cancel('b', 'j2');
  await shard.cancel('a', 'j1');
  await shard.dropLock('a', 'j1');
  const ears = await wakeUps(shard);
  await shard.recover(1);
  expect(await ears.heard()).toEqual(['wake']);
  ears.close();
});

test('a walk over many running jobs in pages finds each of them once', async () => {
  const shard = redis.shard();
  const ids = Array.from({ length: 700 }, (_, i) => `j${String(i).padStart(3, '0')}`);
  await shard.admit(
    'a',
    ids.map((id) => ({ id })),
    UNLIMITED,
  );
  for (const id of ids) {
    await shard.take(`token-${id}`);
    await shard.dropLock('a', id);
  }
  const found: string[] = [];
  let cursor = '0';
  do {
    const page = await shard.recover(1, cursor, 50);
    found.push(...page.returnedIds);
    cursor = page.cursor;
  } while (cursor !== '0');
  expect(found.sort()).toEqual(ids);
  expect(await shard.waiting('a')).toEqual(ids);
});

test('an idempotency key of a job that stalled to its end does not outlive its result', async () => {
  const shard = redis.shard();
  shard.keepCount = 0;
  await shard.admit('a', [{ id: 'j1', idempotencyKey: 'k1' }], UNLIMITED);
  await shard.take('t1');
  await shard.dropLock('a', 'j1');
  await shard.recover(0);
  expect(await shard.redis.exists(shard.key('idem:a:k1'), shard.queueKey('a', 'j1'))).toBe(0);
});

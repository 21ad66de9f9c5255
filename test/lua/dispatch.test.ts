import { describe, expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';
import { withDouble } from './stored-state.js';

const redis = redisForTests();
const UNLIMITED = { ratePerSecond: Infinity };
const completed = { kind: 'completed', value: '1' } as const;

describe('what a worker gets', () => {
  test('a job comes with its payload, under a lock of the token', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1', data: '{"page":7}', cost: 2.5, requestId: 'r1' }]);
    const found = await shard.dispatch('t1');
    expect(found).toMatchObject({ kind: 'job', tenant: 'a', id: 'j1' });
    const fields = found.kind === 'job' ? found.fields : new Map();
    expect(fields.get('data')).toBe('{"page":7}');
    expect(fields.get('hg:c')).toBe('2.5');
    expect(fields.get('hg:r')).toBe('r1');
    expect(await shard.redis.get(`${shard.queueKey('a', 'j1')}:lock`)).toBe('t1');
    expect(await shard.redis.pttl(`${shard.queueKey('a', 'j1')}:lock`)).toBeGreaterThan(0);
    expect(await shard.redis.hgetall(shard.key('running'))).toEqual({ t1: expect.stringMatching(/^a j1 /) });
  });

  test('with nothing to do it waits for an event', async () => {
    expect(await redis.shard().take('t')).toBe('nothing for ever µs');
  });

  test('with a bucket that is due it waits for just that long', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], { ratePerSecond: 2 });
    expect(await shard.take('t1')).toBe('a j1');
    shard.nowUs += 123_456;
    expect(await shard.take('t2')).toBe(`nothing for ${500_000 - 123_456} µs`);
    shard.nowUs += 500_000 - 123_456 - 1;
    expect(await shard.take('t2')).toBe('nothing for 1 µs');
    shard.nowUs += 1;
    expect(await shard.take('t2')).toBe('a j2');
  });

  test('one token gets one job however often it asks, and is charged once', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], { ratePerSecond: 2, burst: 5 });
    expect(await shard.take('t1')).toBe('a j1');
    const level = (await shard.inspect('a')).level;
    await shard.redis.pexpire(`${shard.queueKey('a', 'j1')}:lock`, 5);
    expect(await shard.take('t1')).toBe('a j1');
    expect((await shard.inspect('a')).level).toBe(level);
    expect(await shard.redis.pttl(`${shard.queueKey('a', 'j1')}:lock`)).toBeGreaterThan(5);
    expect(await shard.typeField('running')).toBe(1);
  });
});

describe('the order of gates', () => {
  test('a type at its concurrency starts nothing, whoever is ready', async () => {
    const shard = redis.shard();
    await shard.configure({ concurrency: 1 });
    await shard.admit('a', [{ id: 'j1' }], UNLIMITED);
    await shard.admit('b', [{ id: 'j2' }], UNLIMITED);
    expect(await shard.take('t1')).toBe('a j1');
    expect(await shard.take('t2')).toBe('nothing for ever µs');
    await shard.settle({ token: 't1', tenant: 'a', id: 'j1' }, completed);
    expect(await shard.take('t2')).toBe('b j2');
  });

  test("a type's own rate holds over all tenants", async () => {
    const shard = redis.shard();
    await shard.configure({ emissionUs: 100_000 });
    for (const tenant of ['a', 'b', 'c']) await shard.admit(tenant, [{ id: `${tenant}1` }], UNLIMITED);
    expect(await shard.take('t1')).toBe('a a1');
    expect(await shard.take('t2')).toBe('nothing for 100000 µs');
    shard.nowUs += 100_000;
    expect(await shard.take('t2')).toBe('b b1');
    expect(await shard.take('t3')).toBe('nothing for 100000 µs');
  });

  test('a bucket at its own concurrency is passed over, and comes back with the slot', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'a1' }, { id: 'a2' }], { ...UNLIMITED, concurrency: 1 });
    await shard.admit('b', [{ id: 'b1' }], UNLIMITED);
    expect(await shard.take('t1')).toBe('a a1');
    expect(await shard.take('t2')).toBe('b b1');
    expect(await shard.take('t3')).toBe('nothing for ever µs');
    const { next } = await shard.settle({ token: 't1', tenant: 'a', id: 'a1' }, completed, 't3');
    expect(next).toMatchObject({ kind: 'job', id: 'a2' });
  });

  test('a paused bucket starts nothing until it goes on', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }], { ratePerSecond: 0 });
    expect(await shard.take('t1')).toBe('nothing for ever µs');
    await shard.retime('a', { ratePerSecond: 1 });
    expect(await shard.take('t1')).toBe('a j1');
  });

  test('a jobRate of 0 pauses as a rate of 0 does, and leaves no instant that cannot be brought back', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], { jobRatePerSecond: 0 });
    expect(await shard.take('t1')).toBe('nothing for ever µs');
    await shard.retime('a', { jobRatePerSecond: 4, ratePerSecond: Infinity });
    expect(await shard.take('t1')).toBe('a j1');
    expect(await shard.take('t2')).toBe('nothing for 250000 µs');
  });
});

describe('the order within a bucket', () => {
  test('by priority, and first come first within one', async () => {
    const shard = redis.shard();
    const priorities = [9, 0, 4, 0, 9, 7, 4, 1];
    const jobs = priorities.map((priority, i) => ({ id: `j${i}`, priority }));
    await shard.admit('a', jobs, UNLIMITED);
    const started: string[] = [];
    for (const i of jobs.keys()) started.push(await shard.take(`t${i}`));
    expect(started).toEqual(['a j1', 'a j3', 'a j7', 'a j2', 'a j6', 'a j5', 'a j0', 'a j4']);
  });

  test('delayed jobs join in the order in which they fall due, ahead of what came after that', async () => {
    const shard = redis.shard();
    await shard.admit(
      'a',
      [
        { id: 'd2', delayMs: 20 },
        { id: 'd1', delayMs: 10 },
        { id: 'd3', delayMs: 20 },
      ],
      UNLIMITED,
    );
    shard.nowUs += 15_000;
    await shard.admit('a', [{ id: 'w1' }], UNLIMITED);
    shard.nowUs += 5_000;
    const started: string[] = [];
    for (let i = 0; i < 4; i += 1) started.push(await shard.take(`t${i}`));
    expect(started).toEqual(['a d1', 'a w1', 'a d2', 'a d3']);
  });

  test('a delayed job does not start a microsecond before its instant', async () => {
    const shard = redis.shard();
    shard.nowUs += 777;
    const { first } = await shard.admit('a', [{ id: 'd1', delayMs: 10 }], UNLIMITED);
    const waitUs = first?.kind === 'admitted' ? first.waitUs : 0;
    expect(waitUs).toBeGreaterThanOrEqual(10_000);
    shard.nowUs += waitUs - 1;
    expect(await shard.take('t1')).toBe('nothing for 1 µs');
    shard.nowUs += 1;
    expect(await shard.take('t1')).toBe('a d1');
  });
});

describe('expiry', () => {
  test('a job ends at its start-by, and the worker is told to come then', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2', startByMs: shard.nowMs + 400, cost: 2 }], UNLIMITED);
    await shard.retime('a', { ratePerSecond: 1 });
    await shard.take('t1');
    expect(await shard.take('t2')).toBe('nothing for 400000 µs');
    shard.nowUs += 400_000;
    expect(await shard.take('t2')).toBe('nothing for ever µs');
    expect(await shard.read('a', 'j2')).toMatchObject({ state: 'failed', fields: expect.any(Map) });
    expect((await shard.read('a', 'j2'))?.fields.get('hg:e')).toBe('expired');
  });

  test('an expired job uses no rate: the next one starts when it would have', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }], { ratePerSecond: 1 });
    await shard.admit('a', [{ id: 'j2', cost: 5, startByMs: shard.nowMs + 1500 }, { id: 'j3' }], { ratePerSecond: 1 });
    await shard.take('t1');
    shard.nowUs += 1_500_000;
    expect(await shard.take('t2')).toBe('a j3');
  });

  test('a job that has started does not expire', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1', startByMs: shard.nowMs + 100 }], UNLIMITED);
    await shard.take('t1');
    shard.nowUs += 1_000_000;
    await shard.take('t2');
    expect((await shard.read('a', 'j1'))?.state).toBe('active');
  });
});

describe('a job whose hash went missing', () => {
  test('is passed over, holds no slot, and the next one is handed out', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], UNLIMITED);
    await shard.redis.del(shard.queueKey('a', 'j1'));
    expect(await shard.take('t1')).toBe('a j2');
    expect(await shard.typeField('running')).toBe(1);
    expect(await shard.redis.lrange(shard.queueKey('a', 'active'), 0, -1)).toEqual(['j2']);
    expect(await shard.redis.exists(shard.queueKey('a', 'j1'))).toBe(0);
    expect((await shard.inspect('a')).waitingBytes).toBe(0);
  });

  test('is dropped when it falls due', async () => {
    const shard = redis.shard();
    await shard.admit(
      'a',
      [
        { id: 'd1', delayMs: 5 },
        { id: 'd2', delayMs: 6 },
      ],
      UNLIMITED,
    );
    await shard.redis.del(shard.queueKey('a', 'd1'));
    shard.nowUs += 10_000;
    expect(await shard.take('t1')).toBe('a d2');
    expect(await shard.redis.exists(shard.queueKey('a', 'd1'))).toBe(0);
  });

  test('is dropped when it expires', async () => {
    const shard = redis.shard();
    const startByMs = shard.nowMs + 5;
    await shard.admit(
      'a',
      [
        { id: 'j1', startByMs },
        { id: 'd1', delayMs: 1, startByMs },
      ],
      { ...UNLIMITED, concurrency: 1 },
    );
    await shard.pause('a', true);
    await shard.redis.del(shard.queueKey('a', 'j1'), shard.queueKey('a', 'd1'));
    shard.nowUs += 10_000;
    expect(await shard.take('t1')).toBe('nothing for ever µs');
    expect(await shard.waiting('a')).toEqual([]);
    expect(await shard.redis.zcard(shard.key('expire'))).toBe(0);
    expect(await shard.redis.exists(shard.queueKey('a', 'j1'), shard.queueKey('a', 'failed'))).toBe(0);
  });
});

test('scarce workers are shared by weight and cost', async () => {
  const shard = redis.shard();
  const many = (tenant: string, cost: number) => Array.from({ length: 30 }, (_, i) => ({ id: `${tenant}${i}`, cost }));
  await shard.admit('heavy', many('h', 4), { ...UNLIMITED, weight: 1 });
  await shard.admit('light', many('l', 1), { ...UNLIMITED, weight: 2 });
  const served = { heavy: 0, light: 0 };
  for (let i = 0; i < 27; i += 1) {
    const found = await shard.take(`t${i}`);
    if (found.startsWith('heavy')) served.heavy += 4;
    else served.light += 1;
  }
  expect(served).toEqual({ heavy: 12, light: 24 });
});

test('who was idle goes next, not behind all those who stand under the same tag', async () => {
  const shard = redis.shard();
  const crowd = Array.from({ length: 20 }, (_, i) => `a${String(i).padStart(2, '0')}`);
  for (const tenant of crowd)
    await shard.admit(
      tenant,
      [1, 2, 3].map((n) => ({ id: `${tenant}-${n}` })),
      UNLIMITED,
    );
  for (let i = 0; i < 25; i += 1) await shard.take(`t${i}`);
  await shard.admit('z', [{ id: 'z-1' }, { id: 'z-2' }], UNLIMITED);
  expect(await shard.take('next')).toBe('z z-1');
  const then = [];
  for (let i = 0; i < 20; i += 1) then.push((await shard.take(`u${i}`)).split(' ')[0]);
  // It is served once in a round, as everybody is.
  expect(then.filter((tenant) => tenant === 'z')).toHaveLength(1);
});

test('a call that mends as many buckets as it may says that there is more to do', async () => {
  const shard = redis.shard();
  shard.stepLimit = 1;
  for (const tenant of ['a', 'b']) await shard.admit(tenant, [{ id: `${tenant}1` }], { ...UNLIMITED, concurrency: 1 });
  const stored = await shard.redis.getBuffer(shard.bucketKey('a'));
  await shard.redis.set(shard.bucketKey('a'), withDouble(stored ?? Buffer.alloc(0), 'pace', 1));
  expect(await shard.take('t1')).toBe('nothing for 0 µs');
  expect(await shard.take('t1')).toBe('b b1');
});

import { describe, expect, test } from 'vitest';
import { scripts } from '../../src/shaping/scripts.js';
import { unseenEndOf } from '../../src/shaping/unseen-end.js';
import type { Outcome } from '../../src/shaping/work-source.js';
import { redisForTests } from './redis-for-tests.js';
import type { JobSpec, ScriptShard } from './script-shard.js';

const redis = redisForTests();
const completed: Outcome = { kind: 'completed', value: '1' };
const HOUR_US = 3_600_000_000;

/** What all tenants of a shard share, whether they are there or not. */
const SHARED = ['events', 'id', 'type'];

async function untilQuiet(shard: ScriptShard): Promise<void> {
  for (let i = 0; i < 100; i += 1) {
    const { tenants } = await shard.sweep();
    if (tenants === 0) return;
    shard.nowUs += 1_000_000;
  }
  throw new Error('sweeps have no end');
}

async function run(shard: ScriptShard, token: string, outcome: Outcome): Promise<void> {
  const found = await shard.dispatch(token);
  if (found.kind === 'nothing') throw new Error('nothing to run');
  await shard.settle({ token, tenant: found.tenant, id: found.id }, outcome);
}

describe('a tenant that went quiet leaves no key', () => {
  test.each<{ title: string; job: Partial<JobSpec>; live: (shard: ScriptShard) => Promise<unknown> }>([
    { title: 'after a completed job', job: {}, live: (shard) => run(shard, 't', completed) },
    { title: 'after a failed job', job: {}, live: (shard) => run(shard, 't', { kind: 'failed', value: 'x' }) },
    { title: 'after a cancelled job', job: {}, live: (shard) => shard.cancel('a', 'j1') },
    { title: 'after a cancelled delayed job', job: { delayMs: 60_000 }, live: (shard) => shard.cancel('a', 'j1') },
    {
      title: 'after an expired job',
      job: { delayMs: 50 },
      live: async (shard) => {
        await shard.admit('a', [{ id: 'j2', startByMs: shard.nowMs + 10 }], { ratePerSecond: 0 });
        shard.nowUs += 20_000;
        await shard.take('t');
        await shard.cancel('a', 'j1');
      },
    },
    {
      title: 'after a retry',
      job: {},
      live: async (shard) => {
        await run(shard, 't1', { kind: 'retry', value: '', delayMs: 5, front: false });
        shard.nowUs += 2_000_000;
        await run(shard, 't2', completed);
      },
    },
    {
      title: 'after a job that stalled to its end',
      job: {},
      live: async (shard) => {
        await shard.take('t');
        await shard.dropLock('a', 'j1');
        await shard.recover(0);
      },
    },
    {
      title: 'after a job whose hash went missing',
      job: {},
      live: async (shard) => {
        await shard.redis.del(shard.queueKey('a', 'j1'));
        await shard.take('t');
      },
    },
    {
      title: 'after a running job whose hash went missing',
      job: {},
      live: async (shard) => {
        await shard.take('t');
        await shard.redis.del(shard.queueKey('a', 'j1'));
        await shard.settle({ token: 't', tenant: 'a', id: 'j1' }, completed);
      },
    },
    {
      title: 'after a stalled job whose hash went missing',
      job: {},
      live: async (shard) => {
        await shard.take('t');
        await shard.redis.del(shard.queueKey('a', 'j1'));
        await shard.dropLock('a', 'j1');
        await shard.recover(1);
      },
    },
    {
      title: 'that was due by mistake',
      job: {},
      live: async (shard) => {
        await run(shard, 't1', completed);
        await shard.redis.zadd(shard.key('due'), 1, 'b');
        await shard.take('t2');
      },
    },
    { title: 'with an idempotency key', job: { idempotencyKey: 'k' }, live: (shard) => run(shard, 't', completed) },
    {
      title: 'with output',
      job: {},
      live: async (shard) => {
        await shard.take('t1');
        await shard.run(scripts.emit, ['t1', 1, '"a"', '"b"']);
        await shard.settle({ token: 't1', tenant: 'a', id: 'j1' }, completed);
      },
    },
    {
      title: 'with a start-by and a cost',
      job: { startByMs: 9e12, cost: 3 },
      live: (shard) => run(shard, 't', completed),
    },
  ])('$title', async ({ job, live }) => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1', ...job }]);
    await live(shard);
    shard.nowUs += 2 * HOUR_US;
    await untilQuiet(shard);
    expect((await shard.keys()).filter((key) => !SHARED.includes(key))).toEqual([]);
  });
});

test('a result stays until its time is over, and not longer', async () => {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], { ratePerSecond: Infinity });
  await run(shard, 't1', completed);
  shard.nowUs += HOUR_US / 2;
  await run(shard, 't2', completed);
  shard.nowUs += HOUR_US / 2 - 1000;
  await shard.sweep();
  expect(await shard.read('a', 'j1')).toBeDefined();
  shard.nowUs += 2_000_000;
  await shard.sweep();
  expect(await shard.read('a', 'j1')).toBeUndefined();
  expect(await shard.read('a', 'j2')).toBeDefined();
  expect(await shard.sweep()).toMatchObject({ tenants: 0, jobs: 0, forgotten: 0 });
  shard.nowUs += HOUR_US / 2;
  expect(await shard.sweep()).toMatchObject({ tenants: 1, jobs: 1, forgotten: 1 });
});

test('one call removes at most what it is told to, and says what it did', async () => {
  const shard = redis.shard();
  const specs = Array.from({ length: 5 }, (_, i) => ({ id: `j${i}` }));
  for (const tenant of ['a', 'b', 'c']) await shard.admit(tenant, specs, { ratePerSecond: Infinity });
  for (let i = 0; i < 15; i += 1) await run(shard, `t${i}`, completed);
  shard.nowUs += 2 * HOUR_US;
  expect(await shard.sweep(2, 3)).toMatchObject({ tenants: 2, jobs: 6, forgotten: 0 });
  expect(await shard.sweep(2, 3)).toMatchObject({ tenants: 2, jobs: 5, forgotten: 1 });
  expect(await shard.sweep(2, 3)).toMatchObject({ tenants: 2, jobs: 4, forgotten: 2 });
  expect(await shard.sweep(2, 3)).toMatchObject({ tenants: 0, jobs: 0, forgotten: 0 });
});

describe('a bucket is remembered', () => {
  test('while its level is not 0: forgetting it would be a gift', async () => {
    const shard = redis.shard();
    shard.keepAgeMs = 1000;
    await shard.admit('a', [{ id: 'j1', cost: 100 }], { ratePerSecond: 1 });
    await run(shard, 't1', completed);
    shard.nowUs += 50_000_000;
    expect((await shard.sweep()).forgotten).toBe(0);
    expect((await shard.inspect('a')).level).toBe(50);
    shard.nowUs += 50_000_000;
    expect((await shard.sweep()).forgotten).toBe(1);
  });

  test('while its finish is ahead of virtual time: it was served more than its share', async () => {
    const shard = redis.shard();
    shard.keepAgeMs = 1000;
    await shard.admit('a', [{ id: 'j1', cost: 100 }], { ratePerSecond: Infinity });
    await shard.admit('b', [{ id: 'j2' }, { id: 'j3' }], { ratePerSecond: Infinity });
    await run(shard, 't1', completed);
    expect(await shard.take('t2')).toBe('b j2');
    shard.nowUs += 2_500_000;
    expect((await shard.sweep()).forgotten).toBe(0);
    await shard.settle({ token: 't2', tenant: 'b', id: 'j2' }, completed);
    await run(shard, 't3', completed);
    shard.nowUs += 1_000_000;
    expect((await shard.sweep()).forgotten).toBe(2);
    expect(await shard.redis.exists(shard.bucketKey('a'))).toBe(0);
  });

  test('while it has something to do', async () => {
    const shard = redis.shard();
    shard.keepAgeMs = 1000;
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }, { id: 'j3', delayMs: 1e9 }], { ratePerSecond: Infinity });
    await run(shard, 't1', completed);
    for (const token of ['t2', 't3']) {
      shard.nowUs += 5_000_000;
      expect((await shard.sweep()).forgotten).toBe(0);
      if (token === 't2') await run(shard, token, completed);
    }
    await shard.cancel('a', 'j3');
    shard.nowUs += 5_000_000;
    expect((await shard.sweep()).forgotten).toBe(1);
  });
});

describe('jobs that are overdue while nobody dispatches', () => {
  test('expire in a sweep, so many at a time, and the next one takes their place', async () => {
    const shard = redis.shard();
    const ready = { ratePerSecond: Infinity };
    await shard.admit(
      'a',
      [1, 2, 3].map((n) => ({ id: `j${n}`, startByMs: shard.nowMs + 10 })),
      ready,
    );
    await shard.admit('a', [{ id: 'j4' }, { id: 'j5', startByMs: shard.nowMs + 30 }], ready);
    shard.nowUs += 9000;
    await shard.sweep();
    expect(await shard.waiting('a')).toEqual(['j1', 'j2', 'j3', 'j4', 'j5']);
    shard.nowUs += 1000;
    expect((await shard.sweep(100, 2)).unseen.map(({ id }) => id)).toEqual(['j1', 'j2']);
    expect((await shard.sweep(100, 2)).unseen.map(({ id }) => id)).toEqual(['j3']);
    expect(await shard.waiting('a')).toEqual(['j4', 'j5']);
    expect((await shard.read('a', 'j1'))?.fields.get('hg:e')).toBe('expired');
    expect(await shard.take('t')).toBe('a j4');
  });

  test('of a type that nobody may start expire, too, and a job that runs does not', async () => {
    const shard = redis.shard();
    await shard.admit(
      'a',
      [1, 2].map((n) => ({ id: `j${n}`, startByMs: shard.nowMs + 10 })),
      { ratePerSecond: Infinity, concurrency: 1 },
    );
    await shard.take('t1');
    await shard.configure({ emissionUs: Infinity });
    shard.nowUs += 10_000;
    expect((await shard.sweep()).unseen.map(({ id }) => id)).toEqual(['j2']);
    expect((await shard.settle({ token: 't1', tenant: 'a', id: 'j1' }, completed)).verdict).toBe('settled');
  });
});

describe('ends that nobody saw', () => {
  /** `count` jobs of `tenant` that have just expired, waiting for 20 ms. */
  async function expire(shard: ScriptShard, tenant: string, count: number): Promise<void> {
    const startByMs = shard.nowMs + 20;
    const specs = Array.from({ length: count }, (_, i) => ({ id: `${tenant}${i}`, startByMs, requestId: 'r1' }));
    await shard.pause(tenant, true);
    await shard.admit(tenant, specs, { ratePerSecond: Infinity, depth: 20_000 });
    shard.nowUs += 20_000;
    for (let left = count; left > 0; left -= 32) await shard.dispatch(`${tenant}#${left}`);
  }

  test('are handed over once, in their order, with what a log says of them', async () => {
    const shard = redis.shard();
    await expire(shard, 'a', 3);
    const { unseen } = await shard.sweep();
    expect(unseen.map(({ id }) => id)).toEqual(['a0', 'a1', 'a2']);
    const [first] = unseen.map((record) => unseenEndOf('t', record));
    expect(first).toEqual({
      job: { id: 'a0', type: 't', tenant: 'a', attempt: 1, cost: 1, requestId: 'r1' },
      ...{ ending: 'expired', reason: 'expired', waitMs: 20, runMs: null },
    });
    expect((await shard.sweep()).unseen).toEqual([]);
  });

  test('are handed over a few at a time', async () => {
    const shard = redis.shard();
    await expire(shard, 'a', 5);
    expect((await shard.sweep(100, 3)).unseen).toHaveLength(3);
    expect((await shard.sweep(100, 3)).unseen).toHaveLength(2);
  });

  test('are those of jobs that stalled too often, and of those asked to stop whose worker is gone, each why', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], { ratePerSecond: Infinity });
    for (const id of ['j1', 'j2']) {
      await shard.take(id);
      await shard.dropLock('a', id);
    }
    await shard.cancel('a', 'j2');
    shard.nowUs += 30_000;
    await shard.recover(0);
    const ends = (await shard.sweep()).unseen.map((record) => unseenEndOf('t', record));
    const lost = { waitMs: 0, runMs: 30 };
    expect(ends.toSorted((one, other) => one.job.id.localeCompare(other.job.id))).toMatchObject([
      { job: { id: 'j1', attempt: 1 }, ending: 'failed', reason: 'stalled more than 0 times', ...lost },
      { job: { id: 'j2' }, ending: 'cancelled', reason: 'cancelled', ...lost },
    ]);
  });

  test.each<Outcome>([
    { kind: 'retry', value: 'no luck', delayMs: 1000, front: false },
    { kind: 'return', value: 'stopping' },
    { kind: 'busy', value: 'busy', holdMs: 1000, scope: 'bucket' },
  ])('are those of jobs asked to stop whose run ends in $kind, which its worker takes for no end', async (outcome) => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1', requestId: 'r1' }], { ratePerSecond: Infinity });
    await shard.take('t1');
    await shard.cancel('a', 'j1');
    expect((await shard.sweep()).unseen).toEqual([]);
    await shard.settle({ token: 't1', tenant: 'a', id: 'j1' }, outcome);
    const ends = (await shard.sweep()).unseen.map((record) => unseenEndOf('t', record));
    expect(ends).toMatchObject([{ job: { id: 'j1', requestId: 'r1' }, ending: 'cancelled', reason: 'cancelled' }]);
    expect((await shard.read('a', 'j1'))?.state).toBe('failed');
  });

  test('are none of those that a caller or a worker ended', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], { ratePerSecond: Infinity });
    await run(shard, 't1', completed);
    await shard.cancel('a', 'j2');
    expect((await shard.sweep()).unseen).toEqual([]);
  });

  test('are kept in a bounded number where nobody comes for them: the oldest go', async () => {
    const shard = redis.shard();
    await shard.redis.rpush(shard.key('unseen'), ...Array.from({ length: 9999 * 10 }, () => '1'));
    await expire(shard, 'a', 2);
    expect(await shard.redis.llen(shard.key('unseen'))).toBe(10_000 * 10);
    expect(await shard.redis.lindex(shard.key('unseen'), -19)).toBe('a0');
    await shard.redis.del(shard.key('unseen'));
  });
});

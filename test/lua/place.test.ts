import { describe, expect, test } from 'vitest';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';

const redis = redisForTests();

/** One running job, one that waits and one that is delayed, in a bucket that may start something in 500 ms. */
async function usual(): Promise<ScriptShard> {
  const shard = redis.shard();
  await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }, { id: 'd1', delayMs: 60_000 }], { ratePerSecond: 2 });
  await shard.take('t1');
  return shard;
}

async function schedule(shard: ScriptShard) {
  const [due, ready] = [shard.key('due'), shard.key('ready')];
  return {
    due: await shard.redis.zrange(due, 0, -1, 'WITHSCORES'),
    ready: await shard.redis.zrange(ready, 0, -1, 'WITHSCORES'),
    running: await shard.typeField('running'),
    active: await shard.bucketField('a', 'active'),
    waiting: await shard.bucketField('a', 'waiting'),
  };
}

let weight = 1;
const nextWeight = (): number => {
  weight += 1;
  return weight;
};

/** Touches the bucket without changing anything of it: each of these ends with `place`. */
const touches: Record<string, (shard: ScriptShard) => Promise<unknown>> = {
  admit: (shard) => shard.admit('a', [], ''),
  pause: (shard) => shard.pause('a', false),
  retime: (shard) => shard.retime('a', { ratePerSecond: 2, weight: nextWeight() }),
};

describe.each(Object.entries(touches))('one touch by %s puts right', (_, touch) => {
  test.each<{ title: string; tamper: (shard: ScriptShard) => Promise<unknown> }>([
    { title: 'a bucket that is in neither set', tamper: (shard) => shard.redis.del(shard.key('due')) },
    {
      title: 'a bucket that is in the wrong set',
      tamper: (shard) => shard.redis.rename(shard.key('due'), shard.key('ready')),
    },
    { title: 'a bucket that is in both sets', tamper: (shard) => shard.redis.zadd(shard.key('ready'), 3, 'a') },
    { title: 'a bucket that is due at another instant', tamper: (shard) => shard.redis.zadd(shard.key('due'), 5, 'a') },
    { title: 'a bucket that is due at no instant', tamper: (shard) => shard.redis.zadd(shard.key('due'), '+inf', 'a') },
  ])('$title', async ({ tamper }) => {
    const shard = await usual();
    const right = await schedule(shard);
    await tamper(shard);
    expect(await schedule(shard)).not.toEqual(right);
    await touch(shard);
    expect(await schedule(shard)).toEqual(right);
    await touch(shard);
    expect(await schedule(shard)).toEqual(right);
  });

  test('the running count, when a running job vanished from the list', async () => {
    const shard = await usual();
    await shard.redis.del(shard.queueKey('a', 'active'));
    await touch(shard);
    expect(await schedule(shard)).toMatchObject({ running: 0, active: 0 });
  });

  test('the running count, when another job stands in the list', async () => {
    const shard = await usual();
    await shard.redis.lpush(shard.queueKey('a', 'active'), 'stranger');
    await touch(shard);
    expect(await schedule(shard)).toMatchObject({ running: 2, active: 2 });
  });

  test('a bucket whose jobs are all gone', async () => {
    const shard = await usual();
    await shard.redis.del(shard.queueKey('a', 'prioritized'), shard.queueKey('a', 'delayed'));
    await touch(shard);
    expect(await schedule(shard)).toMatchObject({ due: [], ready: [], waiting: 0 });
    expect(await shard.inspect('a')).toMatchObject({ waitingCost: 0, waitingBytes: 0 });
  });

  test('a bucket of which only a delayed job is left', async () => {
    const shard = await usual();
    await shard.redis.del(shard.queueKey('a', 'prioritized'));
    await touch(shard);
    expect(await schedule(shard)).toMatchObject({ due: ['a', String(shard.nowUs + 60_000_000)], ready: [] });
  });
});

describe('a bucket belongs', () => {
  test.each<{ title: string; live: (shard: ScriptShard) => Promise<unknown>; due: string[]; ready: string[] }>([
    { title: 'nowhere when nothing waits', live: async () => undefined, due: [], ready: [] },
    {
      title: 'among the ready when it may start something now',
      live: (shard) => shard.admit('a', [{ id: 'j1' }]),
      due: [],
      ready: ['a', '0'],
    },
    {
      title: 'among the due when it may start something later',
      live: async (shard) => {
        await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }]);
        await shard.take('t1');
      },
      due: ['a', String(60_000_000_000_000 + 1_000_000)],
      ready: [],
    },
    {
      title: 'among the due without an instant while it is at its own concurrency',
      live: async (shard) => {
        await shard.admit('a', [{ id: 'j1' }, { id: 'j2' }], { ratePerSecond: Infinity, concurrency: 1 });
        await shard.take('t1');
      },
      due: ['a', 'inf'],
      ready: [],
    },
    {
      title: 'among the due without an instant while it is paused',
      live: (shard) => shard.admit('a', [{ id: 'j1' }], { ratePerSecond: 0 }),
      due: ['a', 'inf'],
      ready: [],
    },
    {
      title: 'among the due at the first instant when all that it has is delayed',
      live: (shard) =>
        shard.admit('a', [
          { id: 'd2', delayMs: 9 },
          { id: 'd1', delayMs: 7 },
        ]),
      due: ['a', String(60_000_000_000_000 + 7000)],
      ready: [],
    },
  ])('$title', async ({ live, due, ready }) => {
    const shard = redis.shard();
    await live(shard);
    expect(await schedule(shard)).toMatchObject({ due, ready });
  });
});

test('a bucket that is due by mistake is found, looked at once, and left', async () => {
  const shard = redis.shard();
  await shard.redis.zadd(shard.key('due'), 1, 'ghost');
  await shard.redis.zadd(shard.key('ready'), 1, 'spook');
  expect(await shard.take('t1')).toBe('nothing for ever µs');
  expect(await shard.redis.exists(shard.key('due'), shard.key('ready'))).toBe(0);
});

test('becoming backlogged saves up nothing of the time before', async () => {
  const shard = redis.shard();
  const profile = { ratePerSecond: 10, burst: 3 };
  await shard.admit('a', [{ id: 'j1' }], profile);
  await shard.take('t1');
  shard.nowUs += 3_600_000_000;
  await shard.admit(
    'a',
    Array.from({ length: 6 }, (_, i) => ({ id: `k${i}` })),
    profile,
  );
  for (let i = 0; i < 3; i += 1) expect(await shard.take(`u${i}`)).toBe(`a k${i}`);
  expect(await shard.take('u3')).toBe('nothing for 100000 µs');
});

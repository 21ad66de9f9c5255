import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Limit } from '../../src/model/limit.js';
import type { PolicerVerdict } from '../../src/policing/policer.js';
import { RedisPolicer } from '../../src/policing/redis-policer.js';
import { limitKeys } from '../../src/redis/keys.js';
import { eventually } from '../support/eventually.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.stop());
beforeEach(async () => {
  await redis.flushall();
  await redis.config('RESETSTAT');
});

const slow: Limit = { algorithm: 'token-bucket', name: 'slow', per: 'key', ratePerSecond: 1e-6, burst: 10 };
const day: Limit = { algorithm: 'sliding-window-log', name: 'day', per: 'key', limit: 20, windowMs: 86_400_000 };
const all: Limit = {
  algorithm: 'sliding-window-counter',
  name: 'all',
  per: 'policy',
  limit: 1000,
  windowMs: 86_400_000,
};

const check = async (policer: RedisPolicer, subject = 'a', { cost = 1, peek = false } = {}): Promise<PolicerVerdict> =>
  policer.check({ limits: [{ limit: slow, subject }], cost, peek });

async function calls(command: string): Promise<number> {
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await redis.info('commandstats'))?.[1] ?? 0);
}

describe('checks made at the same time', () => {
  test('travel together, and each has its own answer', async () => {
    const policer = new RedisPolicer(redis);
    await check(policer, 'warm');
    await redis.config('RESETSTAT');
    const verdicts = await Promise.all(Array.from({ length: 16 }, (_, i) => check(policer, i < 14 ? 'one' : 'other')));
    expect(await calls('fcall')).toBe(1);
    expect(verdicts.map(({ verdict }) => verdict)).toEqual([
      ...Array.from({ length: 10 }, () => 'conforming'),
      ...Array.from({ length: 4 }, () => 'limited'),
      ...Array.from({ length: 2 }, () => 'conforming'),
    ]);
  });

  test('are as many calls as it takes for none to be long', async () => {
    const policer = new RedisPolicer(redis);
    await check(policer, 'warm');
    await redis.config('RESETSTAT');
    const verdicts = await Promise.all(Array.from({ length: 450 }, (_, i) => check(policer, `s${i}`)));
    expect(verdicts.every(({ verdict }) => verdict === 'conforming')).toBe(true);
    expect(await calls('fcall')).toBe(Math.ceil(450 / 16));
  });

  test('by several processes never let more pass than there is', async () => {
    const policers = Array.from({ length: 4 }, () => new RedisPolicer(server.client()));
    const verdicts = await Promise.all(policers.flatMap((policer) => Array.from({ length: 50 }, () => check(policer))));
    expect(verdicts.filter(({ verdict }) => verdict === 'conforming')).toHaveLength(10);
  });

  test('do not fail with one whose key holds something else', async () => {
    const policer = new RedisPolicer(redis);
    const [key = ''] = limitKeys([{ subject: 'b', limit: slow }], false);
    await redis.lpush(key, 'somebody else’s');
    const [good, bad, other] = await Promise.allSettled([
      check(policer, 'a'),
      check(policer, 'b'),
      check(policer, 'a'),
    ]);
    expect(good).toMatchObject({ value: { verdict: 'conforming', readings: [{ remaining: 9 }] } });
    expect(bad).toMatchObject({ reason: { message: expect.stringContaining('WRONGTYPE') } });
    expect(other).toMatchObject({ value: { verdict: 'conforming', readings: [{ remaining: 8 }] } });
  });
});

test('a refusal says when the call passes, by the limit that is last to let it', async () => {
  const policer = new RedisPolicer(redis, { now: () => 1e15 });
  const fast = { ...slow, ratePerSecond: 3, burst: 1 };
  const limits = [
    { limit: fast, subject: 'fast' },
    { limit: day, subject: 'a' },
  ];
  await policer.check({ limits, cost: 1, peek: false });
  expect(await policer.check({ limits, cost: 1, peek: false })).toEqual({
    verdict: 'limited',
    limitedBy: 0,
    retryAfterMs: 334,
    readings: [
      { limit: fast, remaining: 0, nextUnitMs: 333.334 },
      { limit: day, remaining: 19, nextUnitMs: 86_400_000 },
    ],
  });
});

describe('without asking Redis', () => {
  test('a cost above a quota is refused for good', async () => {
    const limits = [slow, day].map((limit, i) => ({ limit, subject: `s${i}` }));
    const verdict = await new RedisPolicer(redis).check({ limits, cost: 30, peek: false });
    expect(verdict).toEqual({ verdict: 'cost_exceeds_max', limitedBy: 0, max: 10 });
    expect(await calls('fcall')).toBe(0);
  });

  test('a call without limits conforms', async () => {
    expect(await new RedisPolicer(redis).check({ limits: [], cost: 1e9, peek: false })).toMatchObject({
      verdict: 'conforming',
      readings: [],
    });
    expect(await calls('fcall')).toBe(0);
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'a cost of %d is a bug',
    (cost) => {
      const policer = new RedisPolicer(redis);
      expect(() => policer.check({ limits: [{ limit: slow, subject: 'a' }], cost, peek: false })).toThrow(RangeError);
    },
  );
});

/** Asks over a connection that goes away while Redis has the question and has not answered it. */
async function cutOff<Answer>(
  ask: (policer: RedisPolicer, pause: () => Promise<unknown>) => Promise<Answer>,
): Promise<Answer> {
  const victim = server.client({ retryStrategy: () => null, autoResendUnfulfilledCommands: false });
  const policer = new RedisPolicer(victim);
  const id = await victim.client('ID');
  try {
    const answer = ask(policer, () => redis.client('PAUSE', 60_000, 'WRITE'));
    answer.catch(() => undefined);
    await expect.poll(() => redis.client('LIST')).toMatch(new RegExp(`id=${id} .*flags=\\w*b\\w* .*cmd=fcall`));
    await redis.client('KILL', 'ID', id);
    return await answer;
  } finally {
    await redis.client('UNPAUSE');
  }
}

describe('giving back', () => {
  test('undoes the call once, however often it is asked for', async () => {
    const policer = new RedisPolicer(redis);
    await check(policer, 'a', { cost: 4 });
    const verdict = await check(policer, 'a', { cost: 2 });
    if (verdict.verdict !== 'conforming') throw new Error(verdict.verdict);
    await Promise.all([verdict.giveBack(), verdict.giveBack()]);
    await verdict.giveBack();
    expect(await calls('fcall')).toBeLessThanOrEqual(4);
    expect(await check(policer, 'a', { peek: true })).toMatchObject({ readings: [{ remaining: 6 }] });
  });

  test('after a peek takes nothing', async () => {
    const policer = new RedisPolicer(redis);
    await check(policer, 'a', { cost: 4 });
    const peek = await check(policer, 'a', { cost: 2, peek: true });
    if (peek.verdict !== 'conforming') throw new Error(peek.verdict);
    await peek.giveBack();
    expect(await check(policer, 'a', { peek: true })).toMatchObject({ readings: [{ remaining: 6 }] });
  });

  test('is not tried again after an outcome that nobody knows', async () => {
    let again: () => void | Promise<void> = () => undefined;
    await expect(
      cutOff(async (policer, pause) => {
        const verdict = await check(policer, 'a', { cost: 4 });
        if (verdict.verdict !== 'conforming') throw new Error(verdict.verdict);
        again = verdict.giveBack;
        await pause();
        return verdict.giveBack();
      }),
    ).rejects.toThrow();
    await again();
    expect(await check(new RedisPolicer(redis), 'a', { peek: true })).toMatchObject({ readings: [{ remaining: 6 }] });
  });
});

describe('when Redis does not answer', () => {
  test('every check that was under way rejects, with nothing of what was sent, and is not sent again', async () => {
    await check(new RedisPolicer(redis), 'a');
    await redis.config('RESETSTAT');
    const settled = await cutOff(async (policer, pause) => {
      await pause();
      return Promise.allSettled([1, 2, 3].map(() => check(policer, 'a')));
    });
    for (const each of settled) {
      expect(each).toMatchObject({ status: 'rejected', reason: expect.any(Error) });
      if (each.status === 'rejected') expect(Object.keys(each.reason)).not.toContain('command');
    }
    expect(await calls('fcall')).toBe(0);
    expect(await check(new RedisPolicer(redis), 'a', { peek: true })).toMatchObject({ readings: [{ remaining: 9 }] });
  });

  test('the functions that a flush took are loaded again', async () => {
    const policer = new RedisPolicer(redis);
    await check(policer, 'a');
    await redis.function('FLUSH');
    expect(await check(policer, 'a')).toMatchObject({ verdict: 'conforming', readings: [{ remaining: 8 }] });
  });
});

describe('keys', () => {
  const applied = (subject: string, per: 'key' | 'policy' = 'key') => ({ subject, limit: { per } });

  test.each(['', '\0', '{a}', '}{', '\r\n', '__proto__', 'é', 'x'.repeat(1_000_000)])(
    'say nothing of a subject, whatever it is: case %#',
    (subject) => {
      const [key] = limitKeys([applied(subject)], false);
      expect(key).toMatch(/^hg:l:[\w-]{22}$/);
    },
  );

  test('depend on the subject alone', () => {
    expect(limitKeys([applied('a'), applied('b')], false)[1]).toBe(limitKeys([applied('b')], false)[0]);
    expect(new Set(limitKeys([applied('a'), applied('b'), applied('ab')], false)).size).toBe(3);
  });

  test('on a cluster share the slot of the limit over the policy, whose own key is always the same', () => {
    const tagOf = (key = '') => /\{([^}]*)\}/.exec(key)?.[1];
    const together = limitKeys([applied('a'), applied('p', 'policy'), applied('b')], true);
    expect(new Set(together.map(tagOf)).size).toBe(1);
    expect(new Set(together).size).toBe(3);
    expect(together[1]).toBe(limitKeys([applied('p', 'policy')], true)[0]);
    expect(tagOf(limitKeys([applied('a')], true)[0])).not.toBe(tagOf(limitKeys([applied('b')], true)[0]));
  });
});

describe('on a cluster', () => {
  let node: TestRedis;
  beforeAll(async () => {
    node = await startRedis({ port: true, args: ['--cluster-enabled', 'yes'] });
    await node.client().cluster('ADDSLOTSRANGE', 0, 16_383);
    await eventually(async () => expect(await node.client().cluster('INFO')).toContain('cluster_state:ok'));
  });
  afterAll(() => node.stop());

  test('limits of one call are decided together, and calls of different slots side by side', async () => {
    const policer = new RedisPolicer(node.client(), { isCluster: true });
    const verdicts = await Promise.all(
      Array.from({ length: 24 }, (_, i) =>
        policer.check({
          limits: [
            { limit: slow, subject: `slow ${i % 2}` },
            { limit: day, subject: `day ${i % 2}` },
            { limit: all, subject: 'all' },
          ],
          cost: 1,
          peek: false,
        }),
      ),
    );
    const conforming = verdicts.filter(({ verdict }) => verdict === 'conforming');
    expect(conforming).toHaveLength(20);
    const [first] = conforming;
    if (first?.verdict === 'conforming') await first.giveBack();
    const left = await policer.check({ limits: [{ limit: all, subject: 'all' }], cost: 1, peek: true });
    expect(left).toMatchObject({ readings: [{ remaining: 981 }] });
  });
});

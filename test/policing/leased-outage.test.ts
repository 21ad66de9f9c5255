import { afterEach, describe, expect, test } from 'vitest';
import type { Limit } from '../../src/model/limit.js';
import { LeasedPolicer } from '../../src/policing/leased-policer.js';
import { closeConnection, openConnection, untilReady } from '../../src/redis/connection.js';
import { isPassing } from '../../src/redis/outage.js';
import { eventually } from '../support/eventually.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { freshly } from './kinds.js';

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function bucket(ratePerSecond: number, burst: number): Limit {
  return { algorithm: 'token-bucket', name: 'a', per: 'key', ratePerSecond, burst };
}

/** A Redis of its own, and a policer over it by a connection as the project opens them. */
async function opened(limit: Limit, { leaseMs = 60_000, deadlineMs = 5000 } = {}) {
  const server = await startRedis();
  ends.push(() => server.stop());
  const redis = openConnection({ socketPath: server.socketPath }, { name: 'leased', deadlineMs });
  ends.push(() => closeConnection(redis));
  await untilReady(redis);
  const clock = { passedUs: 0, redisUs: 59e12 };
  const policer = new LeasedPolicer(redis, {
    leaseMs,
    clock: () => 60e6 + clock.passedUs,
    redisClock: () => clock.redisUs + clock.passedUs,
  });
  const applied = freshly(limit);
  const check = (cost = 1) => policer.check({ limits: [applied], cost, peek: false });
  return { server, redis, policer, clock, check };
}

/** Takes the server's place once it is gone: over the same folder, so that its clients find it. */
async function restarted(server: TestRedis): Promise<TestRedis> {
  const again = await startRedis({ dir: server.dir });
  ends.push(() => again.stop());
  return again;
}

describe('while Redis is away', () => {
  test('what is in hand is used, and at once; more than that is not to be had', async () => {
    const { server, policer, check } = await opened(bucket(0.001, 100));
    for (let i = 0; i < 20; i += 1) await check();
    const inHand = Math.floor(policer.held);
    expect(inHand).toBeGreaterThan(2);
    await server.kill();
    for (let i = 0; i < inHand; i += 1) expect(check()).toMatchObject({ verdict: 'conforming' });
    const more = check();
    expect(more).toBeInstanceOf(Promise);
    await expect(more).rejects.toSatisfy(isPassing);
  });

  test('nothing is used whose lease has run out', async () => {
    const { server, policer, clock, check } = await opened(bucket(0.001, 100), { leaseMs: 1000 });
    for (let i = 0; i < 20; i += 1) await check();
    expect(policer.held).toBeGreaterThan(2);
    await server.kill();
    clock.passedUs += 1e6;
    await expect(check()).rejects.toSatisfy(isPassing);
  });

  test('what Redis said last goes on to refuse', async () => {
    const { server, check } = await opened(bucket(0.001, 3));
    for (let i = 0; i < 3; i += 1) expect(await check()).toMatchObject({ verdict: 'conforming' });
    await server.kill();
    expect(check()).toMatchObject({ verdict: 'limited', retryAfterMs: 1_000_000 });
  });

  test('everything goes on when it is back, also with nothing left of what it knew', async () => {
    const { server, redis, check } = await opened(bucket(0.001, 100));
    for (let i = 0; i < 20; i += 1) await check();
    await server.kill();
    await expect(check(60)).rejects.toSatisfy(isPassing);
    await restarted(server);
    await untilReady(redis);
    // The process has let 20 pass itself, and does not forget that with Redis.
    let passed = 0;
    for (let i = 0; i < 100; i += 1) if ((await check()).verdict === 'conforming') passed += 1;
    expect(passed).toBe(80);
  });

  test('a call that fails rejects for every key that it asked for, and for none that is in hand', async () => {
    const { server, policer, check } = await opened(bucket(0.001, 100));
    for (let i = 0; i < 20; i += 1) await check();
    await server.kill();
    const others = Array.from({ length: 20 }, () => freshly(bucket(0.001, 100)));
    const asked = others.map(async (applied) => policer.check({ limits: [applied], cost: 1, peek: false }));
    expect(check()).toMatchObject({ verdict: 'conforming' });
    for (const each of asked) await expect(each).rejects.toSatisfy(isPassing);
  });

  test('closing gives up what it holds, and does not hang', async () => {
    const { server, policer, check } = await opened(bucket(0.001, 100));
    for (let i = 0; i < 20; i += 1) await check();
    await server.kill();
    await policer.close();
    expect(policer.held).toBe(0);
  });
});

describe('an answer that is lost', () => {
  test('loses units and makes none: the request is not repeated', async () => {
    const { server, policer, check } = await opened(bucket(0.001, 100), { deadlineMs: 150 });
    await check();
    const other = server.client();
    const functions = async () => Number(/cmdstat_fcall:calls=(\d+)/.exec(await other.info('commandstats'))?.[1]);
    const before = await functions();
    await other.client('PAUSE', 600, 'WRITE');
    await expect(check(40)).rejects.toSatisfy(isPassing);
    // Redis answers late, to nobody: the units are gone.
    await eventually(async () => expect(await functions()).toBeGreaterThan(before));
    expect(await functions()).toBe(before + 1);
    expect(policer.held).toBeLessThan(40);
    // On a machine that is busy an answer may be late again.
    let passed = 0;
    for (let i = 0; i < 120; i += 1) {
      const verdict = await Promise.resolve(check()).catch(() => undefined);
      if (verdict?.verdict === 'conforming') passed += 1;
    }
    // At least those forty, and whatever was asked for beside them.
    expect(passed).toBeLessThanOrEqual(59);
    expect(passed).toBeGreaterThan(40);
  });
});

describe('clocks', () => {
  test.each([-3600e6, 3600e6])('that of Redis may jump by %d µs: nobody gains, nobody is locked out', async (jump) => {
    const { policer, clock, check } = await opened(bucket(10, 20), { leaseMs: 1000 });
    const passing = async (n: number) => {
      let passed = 0;
      for (let i = 0; i < n; i += 1) if ((await check()).verdict === 'conforming') passed += 1;
      return passed;
    };
    expect(await passing(30)).toBe(20);
    clock.redisUs += jump;
    expect(await passing(30)).toBe(0);
    clock.passedUs += 1e6;
    expect(await passing(30)).toBeLessThanOrEqual(10);
    clock.passedUs += 2e6;
    await policer.tend();
    expect(await passing(30)).toBeGreaterThan(0);
    clock.passedUs += 10e6;
    expect(await passing(30)).toBe(20);
  });

  test('that of a process may be anything: processes an hour apart share one limit', async () => {
    const server = await startRedis();
    ends.push(() => server.stop());
    const applied = freshly(bucket(0.001, 50));
    let passed = 0;
    for (const nowUs of [0, 3600e6, 7.2e12]) {
      const policer = new LeasedPolicer(server.client(), { leaseMs: 1000, clock: () => nowUs });
      for (let i = 0; i < 40; i += 1) {
        const { verdict } = await policer.check({ limits: [applied], cost: 1, peek: false });
        if (verdict === 'conforming') passed += 1;
      }
      await policer.close();
    }
    expect(passed).toBe(50);
  });
});

describe('by its own clocks', () => {
  test('a policer returns what it does not use, without being told', async () => {
    const server = await startRedis();
    ends.push(() => server.stop());
    const policer = new LeasedPolicer(server.client(), { leaseMs: 200 });
    const applied = freshly(bucket(0.001, 100));
    for (let i = 0; i < 30; i += 1) await policer.check({ limits: [applied], cost: 1, peek: false });
    await eventually(() => expect(policer.held).toBe(0));
    const other = new LeasedPolicer(server.client(), { leaseMs: 200 });
    await eventually(async () => {
      const peek = await other.check({ limits: [applied], cost: 1, peek: true });
      expect(peek).toMatchObject({ verdict: 'conforming' });
      if (peek.verdict === 'conforming') expect(Math.floor(peek.readings[0]?.remaining ?? 0)).toBe(70);
    });
    await Promise.all([policer.close(), other.close()]);
  });
});

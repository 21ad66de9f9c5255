import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PolicyConfig } from '../../src/config/policy-config.js';
import { library as leaseLibrary } from '../../src/policing/lease-scripts.js';
import { openPolicing } from '../../src/policing/open-policing.js';
import type { Caller, Decision, Policing } from '../../src/policing/policing.js';
import { library as checkLibrary } from '../../src/policing/scripts.js';
import { subjectOf } from '../../src/policing/subject.js';
import { closeConnection, openConnection, untilReady } from '../../src/redis/connection.js';
import { limitKeys } from '../../src/redis/keys.js';
import { loadLibrary } from '../../src/redis/script.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { bucket, named, policy } from './open-policing-policy.js';

const ON_OUTAGE = ['open', 'closed', 'local'] as const;
/** Long enough for a Redis on a busy machine. */
const DEADLINE_MS = 300;
const limit = bucket(5);
const onRedis = (onOutage: PolicyConfig['onOutage'], options: Partial<PolicyConfig> = {}): PolicyConfig =>
  policy(onOutage, [limit], { place: 'redis', onOutage, deadlineMs: DEADLINE_MS, ...options });

let server: TestRedis;
let proxy: TcpProxy;
const toClose: (() => unknown)[] = [];
beforeEach(async () => {
  server = await startRedis();
  proxy = await startTcpProxy(server.socketPath);
});
afterEach(async () => {
  for (const close of toClose.splice(0).reverse()) await close();
  await proxy.stop();
  await server.stop();
});

interface Bench {
  readonly policing: Policing;
  /** Messages of the log. */
  readonly lines: string[];
  readonly reasons: string[];
  /** Where given, time stands still for outages until it is advanced. */
  advance(ms: number): void;
  decide(policy: string, caller?: Caller): Promise<Decision>;
}

/** Policing over the proxy, connected and warm; its clock for outages stands still unless it is `real`. */
async function open(policies: readonly PolicyConfig[], { real = false } = {}): Promise<Bench> {
  const redis = openConnection({ url: proxy.url }, { name: 'test', deadlineMs: 2000, heartbeatMs: 3_600_000 });
  await untilReady(redis);
  for (const library of [checkLibrary, leaseLibrary]) await loadLibrary(redis, library);
  let nowMs = 0;
  const lines: string[] = [];
  const reasons: string[] = [];
  const write = (detail: { readonly reason?: string }, line: string): void => {
    lines.push(line);
    if (detail.reason !== undefined) reasons.push(detail.reason);
  };
  const policing = openPolicing({
    policies: named(...policies),
    redis,
    logger: { warn: write, info: write },
    random: () => 0.5,
    ...(!real && { now: () => nowMs }),
  });
  toClose.push(
    () => closeConnection(redis),
    () => policing.close(),
  );
  const decide = (name: string, caller: Caller = { tenant: 'acme' }): Promise<Decision> =>
    policing.decide({ policy: name, caller, cost: 1 });
  return {
    policing,
    lines,
    reasons,
    advance: (ms) => {
      nowMs += ms;
    },
    decide,
  };
}

test('limits that stand in Redis hold for all processes together', async () => {
  const [one, other] = [await open([onRedis('open')]), await open([onRedis('open')])];
  const allowed: boolean[] = [];
  for (const { decide } of [one, other, one, other, one, other, one]) allowed.push((await decide('open')).allowed);
  expect(allowed).toEqual([true, true, true, true, true, false, false]);
});

describe('while Redis swallows what it is sent', () => {
  test('each policy decides as its onOutage says', async () => {
    const { decide } = await open(ON_OUTAGE.map((each) => onRedis(each)));
    proxy.swallow();
    const decisions: Decision[] = [];
    for (const each of ON_OUTAGE) decisions.push(await decide(each));
    expect(decisions.map(({ allowed, outcome, decidedBy }) => [allowed, outcome, decidedBy])).toEqual([
      [true, 'unknown', 'open'],
      [false, 'unknown', 'closed'],
      [true, 'conforming', 'local'],
    ]);
    expect(decisions.map(({ limits }) => limits.length)).toEqual([0, 0, 1]);
  });

  test('whoever has no limits passes', async () => {
    const { decide } = await open([onRedis('closed', { byTier: new Map([['staff', []]]) })]);
    proxy.swallow();
    expect((await decide('closed')).decidedBy).toBe('closed');
    expect(await decide('closed', { tenant: 'acme', tier: 'staff' })).toMatchObject({
      allowed: true,
      outcome: 'conforming',
      decidedBy: 'policer',
    });
  });

  test('what can never pass is refused for good: that is arithmetic', async () => {
    const { policing, decide } = await open(ON_OUTAGE.map((each) => onRedis(each)));
    proxy.swallow();
    for (let i = 0; i < 3; i += 1) await decide('open', { key: String(i) });
    for (const each of ON_OUTAGE)
      expect(await policing.decide({ policy: each, caller: { tenant: 'acme' }, cost: 6 })).toMatchObject({
        ...{ outcome: 'cost_exceeds_max', decidedBy: 'policer', allowed: false, max: 5, retryAfterMs: null },
      });
  });

  test('a local stand-in holds callers to the same limits', async () => {
    const { decide } = await open([onRedis('local')]);
    proxy.swallow();
    const allowed: boolean[] = [];
    for (let i = 0; i < 7; i += 1) allowed.push((await decide('local')).allowed);
    expect(allowed).toEqual([true, true, true, true, true, false, false]);
    expect((await decide('local', { tenant: 'other' })).allowed).toBe(true);
  });

  test('it is left alone after three late answers, and asked again by one probe at a time', async () => {
    const { decide, advance } = await open(ON_OUTAGE.map((each) => onRedis(each)));
    proxy.swallow();
    const before = proxy.commands;
    for (let i = 0; i < 300; i += 1) await decide(ON_OUTAGE[i % 3] ?? 'open', { key: String(i) });
    expect(proxy.commands - before).toBe(3);
    for (const [probes, pauseMs] of [100, 200, 400, 800, 1000, 1000].entries()) {
      advance(pauseMs - 1);
      await decide('open');
      expect(proxy.commands - before).toBe(3 + probes);
      advance(1);
      await Promise.all(Array.from({ length: 100 }, () => decide('open')));
      expect(proxy.commands - before).toBe(4 + probes);
    }
  });

  test('a late answer is ignored, and what it charged stays charged', async () => {
    const { decide, advance, policing } = await open([onRedis('open')]);
    proxy.swallow();
    const decision = await decide('open');
    expect(decision.decidedBy).toBe('open');
    await decision.giveBack();
    await proxy.pass();
    advance(10_000);
    const peek = { policy: 'open', caller: { tenant: 'acme' }, cost: 1, peek: true };
    await expect.poll(async () => Math.floor((await policing.decide(peek)).nearest?.remaining ?? NaN)).toBe(4);
  });

  test('nothing hangs, neither giving back nor closing, also over a connection that waits for ever', async () => {
    const redis = new Redis(proxy.url);
    toClose.push(() => redis.disconnect());
    for (const library of [checkLibrary, leaseLibrary]) await loadLibrary(redis, library);
    const policing = openPolicing({ policies: named(onRedis('open'), onRedis('closed', { place: 'leased' })), redis });
    const [charged, leased] = await Promise.all(
      ['open', 'closed'].map((name) => policing.decide({ policy: name, caller: {}, cost: 1 })),
    );
    expect([charged?.decidedBy, leased?.decidedBy]).toEqual(['policer', 'policer']);
    proxy.swallow();
    await charged?.giveBack();
    // Leaves a request for units under way, which closing would wait for.
    expect((await policing.decide({ policy: 'closed', caller: { key: 'new' }, cost: 1 })).decidedBy).toBe('closed');
    await policing.close();
  });
});

describe('a policy whose units are leased', () => {
  test('goes on with what it holds while the circuit is open, and sends nothing', async () => {
    const plenty = policy('leased', [bucket(100)], {
      ...{ place: 'leased', onOutage: 'closed', leaseMs: 60_000, deadlineMs: DEADLINE_MS },
    });
    const { decide } = await open([plenty, onRedis('open')]);
    for (let i = 0; i < 20; i += 1) await decide('leased');
    proxy.swallow();
    for (let i = 0; i < 3; i += 1) await decide('open', { key: String(i) });
    const before = proxy.commands;
    expect((await decide('open')).decidedBy).toBe('open');
    expect(await decide('leased')).toMatchObject({ outcome: 'conforming', decidedBy: 'policer' });
    expect((await decide('leased', { tenant: 'of whom nothing is known' })).decidedBy).toBe('closed');
    let held = 0;
    while ((await decide('leased')).decidedBy === 'policer' && held < 100) held += 1;
    expect(held).toBeGreaterThan(0);
    expect(held).toBeLessThan(80);
    expect(proxy.commands).toBe(before);
  });

  test('decides as its onOutage says once what it holds is used', async () => {
    const leased = ON_OUTAGE.map((onOutage) => onRedis(onOutage, { place: 'leased' }));
    const { decide } = await open(leased);
    proxy.swallow();
    const before = proxy.commands;
    const decidedBy: string[] = [];
    for (const each of ON_OUTAGE) decidedBy.push((await decide(each)).decidedBy);
    expect(decidedBy).toEqual([...ON_OUTAGE]);
    for (let i = 0; i < 100; i += 1) await decide('open', { key: String(i) });
    expect(proxy.commands - before).toBeLessThanOrEqual(3);
  });
});

describe('an outage', () => {
  test.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
    [
      'in which Redis is killed',
      () => server.kill(),
      async () => {
        server = await startRedis({ dir: server.dir });
      },
    ],
    ['in which connections are refused', () => proxy.refuse(), () => proxy.pass()],
    ['in which connections are reset', async () => proxy.reset(), () => proxy.pass()],
    ['in which everything is swallowed', async () => proxy.swallow(), () => proxy.pass()],
    [
      'in which Redis is full',
      () => server.client().config('SET', 'maxmemory', '1'),
      () => server.client().config('SET', 'maxmemory', '0'),
    ],
    [
      'in which Redis is a replica',
      () => server.client().replicaof('127.0.0.1', 1),
      () => server.client().replicaof('NO', 'ONE'),
    ],
  ])('%s is over when Redis answers, and is told of once', async (_, begin, end) => {
    const { decide, lines, policing } = await open([onRedis('closed')], { real: true });
    await begin();
    await expect.poll(async () => (await decide('closed')).decidedBy).toBe('closed');
    for (let i = 0; i < 50; i += 1) await decide('closed');
    expect(lines).toEqual(['Redis does not answer: policies decide as their onOutage says']);
    await end();
    await expect.poll(async () => (await decide('closed')).decidedBy).toBe('policer');
    await expect
      .poll(
        async () => {
          await decide('closed');
          return lines.slice(1);
        },
        { timeout: 20_000 },
      )
      .toEqual(['Redis answers again: policies decide by their limits']);
    const counted = policing.counts().find(({ decidedBy }) => decidedBy === 'closed');
    expect(counted).toMatchObject({ policy: 'closed', outcome: 'unknown', allowed: false });
    expect(counted?.count).toBeGreaterThan(50);
  });

  test('is none where Redis has only forgotten the scripts', async () => {
    const { decide, lines } = await open([onRedis('closed')]);
    await server.client().call('FUNCTION', 'FLUSH');
    expect((await decide('closed')).decidedBy).toBe('policer');
    expect(lines).toEqual([]);
  });

  test('is none where this process stood still meanwhile', async () => {
    const { decide, lines } = await open([onRedis('closed')]);
    const decisions = Array.from({ length: 10 }, () => decide('closed'));
    const until = performance.now() + 2 * DEADLINE_MS;
    while (performance.now() < until);
    expect((await Promise.all(decisions)).map(({ decidedBy }) => decidedBy)).toEqual(Array(10).fill('policer'));
    expect(lines).toEqual([]);
  });

  test('of the beginning is over once Redis is there', async () => {
    await proxy.refuse();
    const redis = openConnection({ url: proxy.url }, { name: 'test', deadlineMs: 2000, heartbeatMs: 3_600_000 });
    const policing = openPolicing({ policies: named(onRedis('local')), redis });
    toClose.push(() => closeConnection(redis));
    const ask = async () => (await policing.decide({ policy: 'local', caller: {}, cost: 1 })).decidedBy;
    expect(await ask()).toBe('local');
    await proxy.pass();
    await expect.poll(ask).toBe('policer');
  });
});

test('somebody else’s data under a key of ours concerns that caller alone, and is told with what was wrong', async () => {
  const { decide, lines, reasons } = await open([onRedis('closed')]);
  const acme = { tenant: 'acme' };
  const [key = ''] = limitKeys([{ limit, subject: subjectOf('closed', 0, limit, acme) }], false);
  await server.client().rpush(key, 'x');
  for (let i = 0; i < 5; i += 1) expect((await decide('closed', acme)).decidedBy).toBe('closed');
  expect((await decide('closed', { tenant: 'other' })).decidedBy).toBe('policer');
  expect(lines).toEqual(['a policer failed: its policy decides as its onOutage says']);
  expect(reasons).toEqual([expect.stringContaining('WRONGTYPE')]);
  await server.client().del(key);
  expect((await decide('closed', acme)).decidedBy).toBe('policer');
});

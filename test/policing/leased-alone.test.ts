import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Limit } from '../../src/model/limit.js';
import { leaseKey } from '../../src/policing/lease-scripts.js';
import { LeasedPolicer } from '../../src/policing/leased-policer.js';
import { LocalPolicer } from '../../src/policing/local-policer.js';
import type { AppliedLimit } from '../../src/policing/policer.js';
import { redisForTests } from '../lua/redis-for-tests.js';
import { Fleet, seeded } from './fleet.js';
import { leasedKind } from './kinds/leased.js';
import { freshly } from './kinds.js';

const server = redisForTests();

function bucket(ratePerSecond: number, burst: number): Limit {
  return { algorithm: 'token-bucket', name: 'a', per: 'key', ratePerSecond, burst };
}

/** How often Redis ran a function so far. */
async function requests(): Promise<number> {
  const stats = await server.redis.info('commandstats');
  return Number(/cmdstat_fcall:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

/** The calls of functions that Redis was sent meanwhile. */
async function requestsIn(act: () => Promise<void>): Promise<string[][]> {
  const monitor = await server.redis.monitor();
  const seen: string[][] = [];
  let marked = (): void => undefined;
  const isOver = new Promise<void>((resolve) => {
    marked = resolve;
  });
  monitor.on('monitor', (_at: string, command: string[]) => {
    if (command[0]?.toLowerCase() === 'fcall') seen.push(command);
    if (command[1] === 'that is all') marked();
  });
  await act();
  await server.redis.echo('that is all');
  await isOver;
  monitor.disconnect();
  return seen;
}

/** Calls, pauses, and moments at which the process returns what it does not need. */
const anySteps = fc.array(
  fc.oneof(
    { arbitrary: fc.record({ cost: fc.constantFrom(1, 1, 1, 0.5, 2, 5) }), weight: 6 },
    {
      arbitrary: fc.record({ pauseMs: fc.oneof(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 5000 })) }),
      weight: 4,
    },
    { arbitrary: fc.record({ tend: fc.constant(true) }), weight: 1 },
  ),
  { minLength: 10, maxLength: 80 },
);

describe('a process alone', () => {
  test('decides as one bucket would, however it takes its units and returns them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(0.1, 1, 7, 50, 1000),
        fc.integer({ min: 5, max: 60 }),
        fc.constantFrom(100, 1000, 10_000),
        anySteps,
        async (rate, burst, leaseMs, steps) => {
          const fleet = new Fleet(server.redis, 1, bucket(rate, burst), leaseMs);
          const [member] = fleet.members;
          if (!member) throw new Error('an empty fleet');
          const plain = new LocalPolicer({ maxKeys: 1, clock: () => fleet.nowUs });
          for (const step of steps) {
            if ('pauseMs' in step) {
              // What is on its way arrives first: no answer of Redis takes seconds.
              await fleet.settle();
              fleet.advance(step.pauseMs * 1000);
            } else if ('tend' in step) await member.tend();
            else {
              const check = { limits: [fleet.applied], cost: step.cost, peek: false };
              const expected = plain.check(check);
              const verdict = await member.check(check);
              expect(verdict.verdict).toBe(expected.verdict);
              if (verdict.verdict !== 'limited' || expected.verdict !== 'limited') continue;
              expect(Math.abs(verdict.retryAfterMs - expected.retryAfterMs)).toBeLessThanOrEqual(1);
            }
          }
          await fleet.close();
        },
      ),
      { numRuns: 150 },
    );
  });

  test.each([
    { rate: 100, burst: 100 },
    { rate: 10, burst: 10 },
    { rate: 1000, burst: 100 },
    { rate: 50, burst: 1 },
  ])('gets all of the burst and of the rate: $burst, and $rate a second', async ({ rate, burst }) => {
    const fleet = new Fleet(server.redis, 1, bucket(rate, burst));
    const [member] = fleet.members;
    if (!member) throw new Error('an empty fleet');
    expect(await fleet.calls(member, burst + 10)).toBe(burst);
    const [served] = await fleet.run(10, [{ perSecond: rate * 20 }], seeded(3));
    // A bucket of one unit has nothing to make up with for what it misses until the next call.
    expect(served?.passed).toBeGreaterThanOrEqual(rate * 10 * (burst === 1 ? 0.94 : 0.99));
    expect(served?.passed).toBeLessThanOrEqual(rate * 10 + 1);
    await fleet.close();
  });

  test('rarely has to ask: steady calls are decided at once', async () => {
    const fleet = new Fleet(server.redis, 1, bucket(1000, 1000));
    const [member] = fleet.members;
    if (!member) throw new Error('an empty fleet');
    await fleet.run(2, [{ perSecond: 500 }], seeded(4));
    const before = await requests();
    let waited = 0;
    for (let i = 0; i < 1000; i += 1) {
      fleet.advance(2000);
      const verdict = member.check({ limits: [fleet.applied], cost: 1, peek: false });
      if (verdict instanceof Promise) waited += 1;
      await verdict;
      await fleet.settle();
    }
    expect(waited).toBe(0);
    // It takes what is asked for in most of a lease at once.
    expect((await requests()) - before).toBeLessThan(10);
    await fleet.close();
  });

  test('asks once for all calls that come at once', async () => {
    const fleet = new Fleet(server.redis, 1, bucket(100, 100));
    const [member] = fleet.members;
    if (!member) throw new Error('an empty fleet');
    const before = await requests();
    const passed = await Promise.all(Array.from({ length: 150 }, () => fleet.call(member)));
    expect(passed.filter(Boolean)).toHaveLength(100);
    // One for the units, and at most one more for those who came too late for the first.
    expect((await requests()) - before).toBeLessThanOrEqual(2);
    await fleet.close();
  });

  test('asks for many keys in few calls, sixteen in each at most', async () => {
    const policer = new LeasedPolicer(server.redis, { leaseMs: 1000 });
    const limits = Array.from({ length: 40 }, () => freshly(bucket(100, 100)));
    await policer.check({ limits: [freshly(bucket(100, 100))], cost: 1, peek: false });
    const asked = await requestsIn(async () => {
      const check = async (applied: AppliedLimit) => policer.check({ limits: [applied], cost: 1, peek: false });
      for (const { verdict } of await Promise.all(limits.map(check))) expect(verdict).toBe('conforming');
    });
    expect(asked.map((command) => Number(command[2]))).toEqual([16, 16, 8]);
    await policer.close();
  });

  test('fails at no key because of another one in the same call', async () => {
    const policer = new LeasedPolicer(server.redis, { leaseMs: 1000 });
    const limits = Array.from({ length: 20 }, () => freshly(bucket(100, 100)));
    const [spoilt] = limits;
    if (!spoilt) throw new Error('no limits');
    await server.redis.lpush(leaseKey(spoilt), 'somebody else’s');
    const verdicts = await Promise.allSettled(
      limits.map(async (applied) => policer.check({ limits: [applied], cost: 1, peek: false })),
    );
    const [bad, ...others] = verdicts;
    expect(bad).toMatchObject({ reason: { message: expect.stringContaining('WRONGTYPE') } });
    for (const other of others) expect(other).toMatchObject({ value: { verdict: 'conforming' } });
    await policer.close();
  });

  test('does not ask again before it was told to, and refuses at once', async () => {
    const fleet = new Fleet(server.redis, 1, bucket(1, 5));
    const [member] = fleet.members;
    if (!member) throw new Error('an empty fleet');
    await fleet.calls(member, 6);
    const before = await requests();
    for (let i = 0; i < 100; i += 1) {
      const verdict = member.check({ limits: [fleet.applied], cost: 1, peek: false });
      expect(verdict).toMatchObject({ verdict: 'limited', retryAfterMs: 1000 });
    }
    expect(await requests()).toBe(before);
    await fleet.close();
  });

  test('remembers a bounded number of buckets, and returns what it held of those it forgets', async () => {
    const fleet = new Fleet(server.redis, 0, bucket(0.001, 50));
    const member = fleet.join({ maxKeys: 5 });
    const check = (i: number) =>
      member.check({ limits: [{ ...fleet.applied, subject: `${fleet.applied.subject}:${i}` }], cost: 1, peek: false });
    for (let i = 0; i < 20; i += 1) {
      for (let n = 0; n < 4; n += 1) await check(i);
      expect(member.size).toBeLessThanOrEqual(5);
    }
    expect(member.held).toBeLessThanOrEqual(5 * 8);
    await member.close();
    const other = fleet.join();
    const first = await other.check({
      limits: [{ ...fleet.applied, subject: `${fleet.applied.subject}:0` }],
      cost: 46,
      peek: false,
    });
    expect(first.verdict).toBe('conforming');
    await other.close();
  });

  test('is no more once it is closed', async () => {
    const fleet = new Fleet(server.redis, 1, bucket(1, 5));
    await fleet.close();
    expect(() => fleet.members[0]?.check({ limits: [fleet.applied], cost: 1, peek: false })).toThrow('closed');
  });
});

test('whoever waits as long as it was told passes, also when an answer of Redis was on its way meanwhile', async () => {
  const open = await leasedKind(server).open();
  const limit = { algorithm: 'token-bucket', name: 'burst', per: 'key', ratePerSecond: 3, burst: 3 } as const;
  const ask = (cost: number) => open.policer.check({ limits: [{ limit, subject: 'on its way' }], cost, peek: false });
  await ask(1);
  await ask(1);
  open.advance(333_334);
  // It asks for more ahead of need, and its answer is not waited for.
  await ask(1);
  const refused = await ask(3);
  expect(refused).toMatchObject({ verdict: 'limited', retryAfterMs: 667 });
  open.advance(667_000);
  expect(await ask(3)).toMatchObject({ verdict: 'conforming' });
  await open.close();
});

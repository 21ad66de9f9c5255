import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Limit } from '../../src/model/limit.js';
import { redisForTests } from '../lua/redis-for-tests.js';
import { Fleet, type Served, seeded } from './fleet.js';
import { excessSince } from './judges.js';

const server = redisForTests();

function bucket(ratePerSecond: number, burst: number): Limit {
  return { algorithm: 'token-bucket', name: 'a', per: 'key', ratePerSecond, burst };
}

/** As many processes as are named, each in its place. */
function fleetOf(size: 2 | 3 | 4, limit: Limit, leaseMs = 1000) {
  const fleet = new Fleet(server.redis, size, limit, leaseMs);
  const [a, b, c = a, d = a] = fleet.members;
  if (!a || !b || !c || !d) throw new Error('a fleet of one');
  return { fleet, a, b, c, d };
}

const sum = (served: readonly Served[]) => served.reduce((all, { passed }) => all + passed, 0);

describe('four processes, one of which has 90 % of the load', () => {
  test.each([
    { rate: 100, burst: 100, overload: 1.2 },
    { rate: 100, burst: 100, overload: 2 },
    { rate: 100, burst: 100, overload: 5 },
    { rate: 100, burst: 10, overload: 2 },
    { rate: 10, burst: 20, overload: 2 },
    { rate: 1000, burst: 100, overload: 2 },
  ])('$rate a second, burst $burst, asked for $overload times that, in 30 s', async ({ rate, burst, overload }) => {
    const { fleet } = fleetOf(4, bucket(rate, burst));
    const quiet = { perSecond: (rate * overload * 0.1) / 3 };
    const loads = [{ perSecond: rate * overload * 0.9 }, quiet, quiet, quiet];
    const served = await fleet.run(30, loads, seeded(42));
    expect(sum(served)).toBeLessThanOrEqual(burst + rate * 30 + 4 * burst);
    expect(sum(served)).toBeGreaterThanOrEqual(0.97 * (burst + rate * 30));
    expect(served[0]?.passed).toBeGreaterThanOrEqual(0.9 * rate * 30);
    // Nor is anybody locked out.
    for (const { passed } of served.slice(1)) expect(passed).toBeGreaterThan(0);
    await fleet.close();
  });
});

describe('processes that share a bucket', () => {
  test('get about as much as each other where each is asked for as much', async () => {
    const { fleet } = fleetOf(3, bucket(100, 50));
    const load = { perSecond: 100 };
    const served = await fleet.run(20, [load, load, load], seeded(1));
    for (const { passed } of served) expect(passed / sum(served)).toBeGreaterThan(0.25);
    await fleet.close();
  });

  test('shrink their shares when another one comes, and grow again when it goes', async () => {
    const { fleet } = fleetOf(2, bucket(100, 20));
    const served = async (loads: readonly { perSecond: number; fromS?: number; toS?: number }[]) =>
      (await fleet.run(5, loads, seeded(2))).map(({ passed }) => passed);
    const [alone = 0] = await served([{ perSecond: 300 }, { perSecond: 0 }]);
    expect(alone).toBeGreaterThan(490);
    const [shared = 0, other = 0] = await served([{ perSecond: 300 }, { perSecond: 300 }]);
    expect(shared).toBeGreaterThan(150);
    expect(other).toBeGreaterThan(150);
    expect(shared + other).toBeGreaterThan(490);
    const [again = 0] = await served([{ perSecond: 300 }, { perSecond: 0 }]);
    expect(again).toBeGreaterThan(480);
    await fleet.close();
  });

  test('never let more pass in any window than the limit and what was out on lease when it began', async () => {
    const anyStep = fc.record({
      member: fc.nat({ max: 2 }),
      calls: fc.integer({ min: 1, max: 15 }),
      pauseMs: fc.constantFrom(0, 0, 0, 5, 40, 300, 1500),
      tend: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(1, 10, 100),
        fc.integer({ min: 3, max: 40 }),
        fc.constantFrom(200, 1000, 20_000),
        fc.array(anyStep, { minLength: 5, maxLength: 40 }),
        async (rate, burst, leaseMs, steps) => {
          const { fleet } = fleetOf(3, bucket(rate, burst), leaseMs);
          // What was out on lease when the clock last moved, and which calls had passed before.
          const begins: { readonly atUs: number; readonly held: number; readonly from: number }[] = [
            { atUs: fleet.nowUs, held: 0, from: 0 },
          ];
          for (const { member: index, calls, pauseMs, tend } of steps) {
            const member = fleet.members[index];
            if (!member) continue;
            await fleet.calls(member, calls);
            if (tend) await member.tend();
            await fleet.settle();
            fleet.advance(pauseMs * 1000);
            begins.push({ atUs: fleet.nowUs, held: fleet.held, from: fleet.passed.length });
          }
          for (const { atUs, held, from } of begins) {
            const excess = excessSince(atUs, rate, burst, fleet.passed.slice(from));
            expect(excess).toBeLessThanOrEqual(held + 0.01);
          }
          await fleet.close();
        },
      ),
      { numRuns: 60 },
    );
  });

  test('exceed the limit by what they hold, and by no more', async () => {
    const { fleet, a, b, c } = fleetOf(3, bucket(20, 20), 60_000);
    for (const member of [a, b, c]) {
      for (let i = 0; i < 6; i += 1) await fleet.call(member);
      await fleet.settle();
    }
    fleet.advance(30e6);
    const { held } = fleet;
    expect(held).toBeGreaterThan(0);
    const passed = (await Promise.all([a, b, c].map((member) => fleet.calls(member, 30)))).reduce((x, y) => x + y);
    expect(passed).toBeGreaterThan(20);
    expect(passed).toBeLessThanOrEqual(20 + held);
    await fleet.close();
  });

  test('return what they do not use: another one gets it', async () => {
    const { fleet, a, b } = fleetOf(2, bucket(0.01, 100));
    expect(await fleet.calls(a, 30)).toBe(30);
    expect(a.held).toBeGreaterThan(0);
    fleet.advance(300_000);
    await a.tend();
    expect(a.held).toBe(0);
    expect(await fleet.calls(b, 100)).toBe(70);
    await fleet.close();
  });

  test('return all that they hold when they close', async () => {
    const { fleet, a, b } = fleetOf(2, bucket(0.01, 100));
    expect(await fleet.calls(a, 30)).toBe(30);
    await a.close();
    expect(await fleet.calls(b, 100)).toBe(70);
    await b.close();
  });

  test('return units once: what was returned is used by nobody here, even if it is asked for in the same moment', async () => {
    const { fleet, a, b } = fleetOf(2, bucket(0.01, 100));
    await fleet.calls(a, 30);
    fleet.advance(300_000);
    const [, fromA, fromB] = await Promise.all([a.tend(), fleet.calls(a, 100), fleet.calls(b, 100)]);
    expect(fromA + fromB).toBeLessThanOrEqual(70);
    await fleet.close();
  });

  test('use nothing whose lease has run out', async () => {
    const { fleet, a } = fleetOf(2, bucket(0.001, 100), 500);
    await fleet.calls(a, 30);
    expect(a.held).toBeGreaterThan(0);
    fleet.advance(500_000);
    expect(a.held).toBe(0);
    await fleet.close();
  });

  test('lose what a dead one held until it has leaked away, and not its share', async () => {
    const { fleet, a, b } = fleetOf(2, bucket(10, 50));
    await fleet.calls(a, 40);
    await fleet.settle();
    const lost = a.held;
    // a is never asked again, and never closed.
    const atOnce = await fleet.calls(b, 60);
    expect(atOnce).toBeLessThanOrEqual(10 - lost + 0.01);
    fleet.advance(5e6);
    expect(await fleet.calls(b, 60)).toBe(50);
    const passed = (await fleet.run(10, [{ perSecond: 0 }, { perSecond: 40 }], seeded(9)))[1]?.passed;
    expect(passed).toBeGreaterThanOrEqual(99);
    await b.close();
  });

  test('leave keys that end, and none once all is whole and everybody has gone', async () => {
    await server.redis.flushall();
    const { fleet, a, b } = fleetOf(2, bucket(10, 50));
    await fleet.calls(a, 20);
    await fleet.calls(b, 5);
    const [key, ...others] = await server.redis.keys('*');
    if (key === undefined) throw new Error('nothing was stored');
    expect(others).toEqual([]);
    expect(await server.redis.pttl(key)).toBeGreaterThan(0);
    expect(await server.redis.strlen(key)).toBe(16 + 2 * 32);
    fleet.advance(20e6);
    await fleet.close();
    expect(await server.redis.keys('*')).toEqual([]);
  });
});

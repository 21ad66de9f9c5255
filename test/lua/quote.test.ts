import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCommand } from './differential/commands.js';
import { Twins } from './differential/twins.js';
import { type Fault, making } from './making.js';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';

const redis = redisForTests();

/** Everything that a type's keys hold, byte for byte. */
async function everything(shard: ScriptShard): Promise<Record<string, string>> {
  const keys = await shard.keys();
  const dumps = await Promise.all(keys.map((key) => shard.redis.dumpBuffer(shard.key(key))));
  return Object.fromEntries(keys.map((key, i) => [key, dumps[i]?.toString('base64') ?? '']));
}

const asked = fc.record({
  count: fc.constantFrom(1, 2, 7, 1000),
  priority: fc.nat(9),
  cost: fc.constantFrom(1, 1, 0.25, 3, 10_000),
});

test('whatever has happened, a quote changes nothing', async () => {
  const property = fc.asyncProperty(
    fc.array(anyCommand(false), { maxLength: 60, size: 'max' }),
    asked,
    async (commands, jobs) => {
      const shard = redis.shard();
      const twins = new Twins(shard, false);
      for (const command of commands) await twins.step(command);
      const before = await everything(shard);
      shard.nowUs += 3_000_000;
      await shard.quote('a', jobs, '');
      await shard.quote('b', jobs, { ratePerSecond: 7, weight: 3, concurrency: 1 });
      expect(await everything(shard)).toEqual(before);
    },
  );
  await fc.assert(property, { seed: 31, numRuns: 40, interruptAfterTimeLimit: 60_000 });
}, 90_000);

/** The door promised something else than the quote had said. */
class OtherPromise extends Error {}

/** How often a door that something has happened to promised to jobs that come now what the quote said. Throws OtherPromise. */
async function compare(newShard: () => ScriptShard, seed: number): Promise<number> {
  let compared = 0;
  const property = fc.asyncProperty(
    fc.array(anyCommand(false), { maxLength: 60, size: 'max' }),
    fc.record({ count: fc.constantFrom(1, 2, 5), priority: fc.nat(9), cost: fc.constantFrom(1, 1, 3) }),
    fc.constantFrom(1, 0.5, 100, Infinity),
    async (commands, jobs, ratePerSecond) => {
      const shard = newShard();
      const twins = new Twins(shard, false);
      for (const command of commands) await twins.step(command);
      // Expired jobs leave at the door, which a quote does not do.
      if ((await shard.typeField('expiry')) <= shard.nowUs) return;
      const profile = { ratePerSecond };
      const quote = await shard.quote('a', jobs, profile);
      const specs = Array.from({ length: jobs.count }, (_, i) => ({ id: `quoted-${i}`, ...jobs }));
      const { verdicts } = await shard.admit('a', specs, profile);
      const [first, last] = [verdicts[0], verdicts.at(-1)];
      if (first?.kind !== 'admitted' || last?.kind !== 'admitted' || quote.kind !== 'quoted') return;
      compared += 1;
      for (const [quoted, promised] of [
        [quote.first, first],
        [quote.last, last],
      ] as const) {
        const isSame =
          Math.abs(quoted.waitUs - promised.waitUs) <= 1 &&
          quoted.basis === promised.basis &&
          (quoted.between === null) === (promised.between === null);
        if (!isSame) throw new OtherPromise(JSON.stringify([quoted, promised]));
      }
    },
  );
  const { failed, errorInstance } = await fc.check(property, {
    seed,
    numRuns: 60,
    interruptAfterTimeLimit: 60_000,
    endOnFailure: true,
  });
  if (failed) throw errorInstance;
  return compared;
}

test('whatever has happened, the door promises to jobs that come now what the quote said', async () => {
  expect(await compare(() => redis.shard(), 32)).toBeGreaterThan(20);
}, 90_000);

test.each<[title: string, fault: Fault]>([
  ['the jobs before the last', [['before + more * cost, unpaid + more', 'before, unpaid']]],
  ['the profile that comes with it', [['apply_profile(b, ARGV[3])\n  local policed', 'local policed']]],
])(
  'a quote that forgets %s is noticed',
  async (_, fault) => {
    await expect(compare(() => redis.shard(making(fault)), 32)).rejects.toThrow(OtherPromise);
  },
  90_000,
);

describe('a quote', () => {
  test('of many jobs names the first start and the last', async () => {
    const quote = await redis.shard().quote('a', { count: 100, priority: 4, cost: 2 }, { ratePerSecond: 4, burst: 3 });
    expect(quote).toMatchObject({
      first: { waitUs: 0, basis: 'rate', between: null },
      last: { waitUs: 49_000_000, basis: 'rate', between: null },
      meanRunUs: 0,
      freePlaces: 1000,
    });
  });

  test('counts delayed jobs that have fallen due, each before what is less urgent', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }, { id: 'd', priority: 2, delayMs: 5, cost: 3 }], { ratePerSecond: 1 });
    shard.nowUs += 6000;
    const last = async (priority: number) => {
      const quote = await shard.quote('a', { count: 1, priority, cost: 1 }, '');
      return quote.kind === 'quoted' && quote.first.waitUs;
    };
    expect(await last(4)).toBe(4_000_000 - 6000);
    expect(await last(0)).toBe(0);
  });

  test('knows how long a run takes once one has ended', async () => {
    const shard = redis.shard();
    await shard.admit('a', [{ id: 'j1' }], {});
    await shard.take('t');
    shard.nowUs += 1_500_000;
    await shard.settle({ token: 't', tenant: 'a', id: 'j1' }, { kind: 'completed', value: '1' });
    expect(await shard.quote('a', { count: 1, priority: 4, cost: 1 }, '')).toMatchObject({ meanRunUs: 1_500_000 });
  });

  test('of policed jobs says when they conform, each coming as soon as it may', async () => {
    const profile = { ratePerSecond: 2, burst: 5, mode: 'police' as const };
    const quote = (count: number, cost: number) => redis.shard().quote('a', { count, priority: 4, cost }, profile);
    expect(await quote(5, 1)).toMatchObject({ first: { waitUs: 0 }, last: { waitUs: 0 } });
    expect(await quote(8, 1)).toMatchObject({ first: { waitUs: 0 }, last: { waitUs: 1_500_000 } });
    expect(await quote(1, 6)).toEqual({ kind: 'cost_exceeds_max', max: 5 });
  });

  test('while the bucket is paused names no start', async () => {
    const quote = await redis.shard().quote('a', { count: 2, priority: 4, cost: 1 }, { ratePerSecond: 0 });
    expect(quote).toMatchObject({ first: { waitUs: 9e15, basis: 'capacity' }, last: { waitUs: 9e15 } });
  });
});

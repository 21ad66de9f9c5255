import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Fault, making } from './making.js';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';

const redis = redisForTests();

const bucket = fc.record({
  weight: fc.constantFrom(1, 4, 0.5, 0.3),
  ratePerSecond: fc.constantFrom(Infinity, Infinity, 1000),
  burst: fc.constantFrom(8, 1),
  costs: fc.array(fc.constantFrom(1, 1, 0.25, 3), { minLength: 1, maxLength: 12 }),
});
const load = fc.record({
  buckets: fc.array(bucket, { minLength: 2, maxLength: 6 }),
  slots: fc.integer({ min: 2, max: 5 }),
});
type Load = typeof load extends fc.Arbitrary<infer Value> ? Value : never;

/** Serves all of a load with so many slots, which end together; ids in the order in which they started. */
async function served(shard: ScriptShard, { buckets, slots }: Load, together: boolean): Promise<string[]> {
  for (const [i, { costs, ...profile }] of buckets.entries()) {
    const jobs = costs.map((cost, k) => ({ id: `t${i}-${k}`, cost }));
    await shard.admit(`t${i}`, jobs, profile);
  }
  const ids: string[] = [];
  let running: { token: string; tenant: string; id: string }[] = [];
  let tokens = 0;
  const note = (token: string, found: Awaited<ReturnType<ScriptShard['dispatch']>>): void => {
    if (found.kind !== 'job') return;
    ids.push(found.id);
    running.push({ token, tenant: found.tenant, id: found.id });
  };
  const fill = async (): Promise<void> => {
    for (let free = slots - running.length; free > 0; free -= 1) {
      tokens += 1;
      note(`k${tokens}`, await shard.dispatch(`k${tokens}`));
    }
  };
  const all = buckets.reduce((sum, { costs }) => sum + costs.length, 0);
  while (ids.length < all || running.length > 0) {
    await fill();
    const ends = running.map((held) => {
      tokens += 1;
      return { held, outcome: { kind: 'completed', value: 'null' } as const, next: `k${tokens}` };
    });
    running = [];
    for (const batch of together ? [ends] : ends.map((end) => [end])) {
      if (batch.length === 0) continue;
      const settled = await shard.settleAll(batch);
      for (const [i, { next }] of settled.entries()) note(batch[i]?.next ?? '', next);
    }
    shard.nowUs += 1000;
  }
  return ids;
}

/** Whether settling together, with a fault, hands out jobs in the same order as settling one by one without it. */
async function same(fault: Fault): Promise<boolean> {
  const property = fc.asyncProperty(load, async (given) => {
    const [alone, together] = [redis.shard(), redis.shard(making(fault))];
    return (await served(together, given, true)).join() === (await served(alone, given, false)).join();
  });
  const { failed, errorInstance } = await fc.check(property, { seed: 1, numRuns: 60, endOnFailure: true });
  if (errorInstance instanceof Error && !/returning false/.test(errorInstance.message)) throw errorInstance;
  return !failed;
}

test('runs that are settled in one call get the same next jobs as one call after another', async () => {
  expect(await same([])).toBe(true);
});

test.each<[title: string, fault: Fault]>([
  [
    'a bucket that comes among the first unseen',
    [['while last > first_at and heads[last] >= start_tag do last = last - 2 end', '']],
  ],
  ['a first that stays so when it was served', [['first_at = first_at + 2 elseif', 'first_at = first_at elseif']]],
  ['start tags that are read before they are written', [['  ready.write()\n  heads, first_at', '  heads, first_at']]],
])('it is noticed: %s', async (_, fault) => {
  expect(await same(fault)).toBe(false);
});

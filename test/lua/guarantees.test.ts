import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { liveThrough } from './guarantees/live-through.js';
import { limits, steps, TENANTS, termsOf } from './guarantees/steps.js';
import { Broken } from './guarantees/watch.js';
import { type Fault, making } from './making.js';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';

const redis = redisForTests();

const begin = fc.record({
  terms: fc.tuple(...TENANTS.map(termsOf)).map((all) => new Map(all.map((terms, i) => [TENANTS[i] ?? 'paced', terms]))),
  limits,
});

/** Lives through random lists of steps. How many jobs were started, or which guarantee was broken. */
async function live(newShard: () => ScriptShard, options: { seed: number; lists: number; longest: number }) {
  let started = 0;
  const lists = fc.array(steps, { maxLength: options.longest, size: 'max' });
  const property = fc.asyncProperty(begin, lists, async (first, then) => {
    started += await liveThrough(newShard(), first, then.flat());
  });
  const { failed, errorInstance, seed } = await fc.check(property, {
    seed: options.seed,
    numRuns: options.lists,
    endOnFailure: true,
  });
  if (failed && !(errorInstance instanceof Broken)) throw errorInstance;
  return { started, broken: errorInstance instanceof Broken ? errorInstance : undefined, seed };
}

describe('after every step, for any tenants, profiles, arrivals, costs, delays, re-rates, pauses, cancels and crashes', () => {
  test.each([1, 2, 3])('rate, order, shares, caps and depth hold, and no job is lost (seed %i)', async (seed) => {
    const { broken, started } = await live(() => redis.shard(), { seed, lists: 12, longest: 200 });
    expect(broken?.message).toBeUndefined();
    expect(started).toBeGreaterThan(200);
  });
});

describe('it is noticed', () => {
  test.each<[title: string, guarantee: string, fault: Fault]>([
    [
      'round robin without cost',
      'G3',
      [['b.finish = start_tag + cost / b.weight', 'b.finish = start_tag + 1 / b.weight']],
    ],
    ['newcomers without virtual time', 'G3', [['ready.put(b.tenant, tag_of(b))', 'ready.put(b.tenant, b.finish)']]],
    [
      'a cap checked outside the script',
      'G7',
      [
        ['if b.paused or active >= b.conc then', 'if b.paused then'],
        ['if b.paused or b.active >= b.conc then return false end', 'if b.paused then return false end'],
      ],
    ],
    ["a type's cap checked outside the script", 'G7', [['if ty.running >= ty.conc then', 'if false then']]],
    [
      'credit for idle time',
      'G1',
      [
        ['    b.tat = math.max(b.tat, now)\n', ''],
        ['math.max(b.tat, now - b.slack) + cost', 'b.tat + cost'],
      ],
    ],
    ['tat kept over a re-rate', 'G1', [['b.tat = rescale(b.tat, b.T, T)', '']]],
    ["the type's tat kept over a re-rate", 'G1', [['ty.tat = now + (ty.tat - now) * T / ty.T', '']]],
    ['delayed jobs that let others pass as they fall due', 'G2', [['  promote_due(b, 1000)\n', '']]],
    [
      'one job too many at the door',
      'G8',
      [["limit = held + 1 > b.depth and 'depth'", "limit = held > b.depth and 'depth'"]],
    ],
    [
      'a job that is lost with its worker',
      'G5',
      [['give_back(b, id, true)\n', "call('LREM', b.active_key, '-1', id)\n"]],
    ],
  ])('%s breaks %s', { timeout: 240_000 }, async (_, guarantee, fault) => {
    const { broken } = await live(() => redis.shard(making(fault)), { seed: 1, lists: 40, longest: 200 });
    expect(broken?.guarantee).toBe(guarantee);
  });
});

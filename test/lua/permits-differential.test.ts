import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Fault, making } from './making.js';
import { Disagreement, PermitTwins, permitStep } from './permits/permit-twins.js';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';

const redis = redisForTests();

/** Carries out random calls on the book of the model and on that of the scripts. What they first differed in, if anything. */
async function differ(newShard: () => ScriptShard, options: { seed: number; lists: number; longest: number }) {
  let steps = 0;
  const lists = fc.array(permitStep, { maxLength: options.longest, size: 'max' });
  const property = fc.asyncProperty(lists, async (list) => {
    const twins = new PermitTwins(newShard());
    for (const step of list) {
      await twins.step(step);
      steps += 1;
    }
  });
  const { failed, errorInstance } = await fc.check(property, {
    seed: options.seed,
    numRuns: options.lists,
    endOnFailure: true,
  });
  if (failed && !(errorInstance instanceof Disagreement)) throw errorInstance;
  return { steps, disagreement: errorInstance instanceof Disagreement ? errorInstance.message : undefined };
}

test.each([1, 2, 3])('model and scripts agree on every permit and on all state (seed %i)', async (seed) => {
  const { steps, disagreement } = await differ(() => redis.shard(), { seed, lists: 12, longest: 400 });
  expect(disagreement?.slice(0, 1000)).toBeUndefined();
  expect(steps).toBeGreaterThan(1000);
});

test.each<[title: string, fault: Fault]>([
  ['a slot too many', [['key_permits) < total.conc', 'key_permits) <= total.conc']]],
  ['a burst of one more', [['(total.burst - 1) * total.T', 'total.burst * total.T']]],
  ['slack without bounds', [['math.max(total.tat, now - total.slack) + cost', 'total.tat + cost']]],
  ['a permit that is charged 1, whatever its job costs', [['+ cost * total.T', '+ total.T']]],
  ['tat kept over a re-rate', [['total.tat = now + (total.tat - now) * T / total.T', '']]],
  ['a pause that is not kept', [["if total.paused then return { 'wait', -1 } end", '']]],
  ['permits before it is known what runs', [["if total.counted == 0 then return { 'count', total.epoch } end", '']]],
  ['a late word of what runs', [['tonumber(ARGV[2]) ~= total.epoch or', 'false or']]],
  ['a permit that is charged twice', [["call('HEXISTS', key_permits, id) == 1", 'false']]],
  ['a charge that has leaked and is given back', [['tonumber(mark), before, now)', 'math.huge, before, now)']]],
  ['a corrected cost that is corrected again', [['elseif more ~= 0 then', 'elseif false then']]],
  ['an end that keeps its slot', [["call('HDEL', key_permits, id)", '']]],
  ['nobody who hears of a free slot', [['    total.full = 1\n', '']]],
  ['nobody who hears of an earlier instant', [['has_earlier = has_earlier or total.tat < before', '']]],
])('it is noticed: %s', async (_, fault) => {
  const { disagreement } = await differ(() => redis.shard(making(fault)), { seed: 4, lists: 40, longest: 400 });
  expect(disagreement).toBeDefined();
});

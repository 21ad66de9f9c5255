import { describe, expect, test } from 'vitest';
import { jain } from '../../bench/fairness/jain.js';
import { Random } from '../../bench/fairness/random.js';
import { crowdService, sharesOfTheReady } from '../support/service/crowd.js';
import { simulateService } from '../support/service/simulate-service.js';
import { type Fault, making } from './making.js';
import { redisForTests } from './redis-for-tests.js';
import type { ScriptShard } from './script-shard.js';

const redis = redisForTests();

const SECOND = 1_000_000;
const CROWD = {
  tenants: 50,
  weights: [1, 2, 4, 8],
  meanCosts: [1, 3, 8],
  slots: 10,
  unitUs: 20_000,
  spread: 1,
  overcommitment: 3,
  newcomersAtUs: 6 * SECOND,
  untilUs: 22 * SECOND,
};
const WINDOW = { fromUs: 7 * SECOND, toUs: 22 * SECOND };

/** Shares of the tenants that were ready all the time, over their weights. */
async function sharesIn(shard: ScriptShard, seed: number): Promise<readonly number[]> {
  const service = crowdService(CROWD, new Random(seed));
  const jobs = await simulateService(shard, service);
  return [...sharesOfTheReady(jobs, service.weights, WINDOW).values()];
}

describe(`${CROWD.tenants} tenants of weights ${CROWD.weights} that want three times what there is`, {
  timeout: 300_000,
}, () => {
  test.each([1, 2])(
    "are served by weight and cost: Jain's index of those always ready is 0.99 (seed %i)",
    async (seed) => {
      const shares = await sharesIn(redis.shard(), seed);
      console.log(shares.length, jain(shares));
      expect(shares.length).toBeGreaterThanOrEqual(40);
      expect(jain(shares)).toBeGreaterThanOrEqual(0.99);
    },
  );

  test.each<[title: string, fault: Fault]>([
    ['round robin without cost', [['b.finish = start_tag + cost / b.weight', 'b.finish = start_tag + 1 / b.weight']]],
    ['weights that are not looked at', [['b.finish = start_tag + cost / b.weight', 'b.finish = start_tag + cost']]],
    ['newcomers without virtual time', [['ready.put(b.tenant, tag_of(b))', 'ready.put(b.tenant, b.finish)']]],
  ])('would not be by %s', async (_, fault) => {
    const shares = await sharesIn(redis.shard(making(fault)), 1);
    expect(jain(shares)).toBeLessThan(0.99);
  });
});

test.each([
  { shares: [5, 5, 5, 5], index: 1 },
  { shares: [8, 0, 0, 0], index: 0.25 },
  { shares: [1, 2, 3], index: 36 / 42 },
])("Jain's index of $shares is $index", ({ shares, index }) => {
  expect(jain(shares)).toBeCloseTo(index, 12);
});

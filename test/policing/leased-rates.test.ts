import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Limit } from '../../src/model/limit.js';
import { LeasedPolicer } from '../../src/policing/leased-policer.js';
import { closeConnection, openConnection, untilReady } from '../../src/redis/connection.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { freshly } from './kinds.js';

let server: TestRedis;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

const BURST = 10;
const STEPS = 400;

test.each([1e-6, 1e-4, 0.5, 7 / 60, 3, 12_345.678, 1e6])(
  'a lone process that leases has a rate of %d a second, to a thousandth',
  async (ratePerSecond) => {
    const redis = openConnection({ socketPath: server.socketPath }, { name: 'leased', deadlineMs: 5000 });
    await untilReady(redis);
    let nowUs = 60e6;
    const clock = () => nowUs;
    const policer = new LeasedPolicer(redis, { leaseMs: 1000, clock, redisClock: () => 59e12 + Math.floor(nowUs) });
    const limit: Limit = { algorithm: 'token-bucket', name: 'a', per: 'key', ratePerSecond, burst: BURST };
    const applied = freshly(limit);
    const passing = async (): Promise<number> => {
      let passed = 0;
      while ((await policer.check({ limits: [applied], cost: 1, peek: false })).verdict === 'conforming') passed += 1;
      return passed;
    };
    expect(await passing()).toBe(BURST);
    const beganUs = nowUs;
    let passed = 0;
    for (let step = 0; step < STEPS; step += 1) {
      nowUs += (BURST / 2 / ratePerSecond) * 1e6;
      await policer.tend();
      passed += await passing();
    }
    const ratio = passed / ((nowUs - beganUs) / 1e6) / ratePerSecond;
    expect(Math.abs(ratio - 1)).toBeLessThan(0.001);
    await policer.close();
    closeConnection(redis);
  },
);

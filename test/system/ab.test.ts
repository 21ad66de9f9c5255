import { setTimeout as pause } from 'node:timers/promises';
import { fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { headgate as plugin } from '../../src/plugins/fastify.js';
import { runCommand } from '../../src/redis/embedded/run-command.js';
import { debianProgram } from '../support/debian-program.js';
import { HeadgateFolder } from '../support/headgate-process.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { type DecisionTimes, decisionTimes } from './support/decision-times.js';

const GATEWAY_KEY = 'the-key-of-the-gateway-of-this-test';
const BURST = 100;
const RATE_PER_SECOND = 2;
/** Redis decides, however busy the machine. */
const policies = { api: { rate: `${RATE_PER_SECOND}/s`, burst: BURST, deadline: '5s' } };

let ab: string;
let redis: TestRedis;
let times: DecisionTimes;
beforeAll(async () => {
  ab = await debianProgram('ab');
  redis = await startRedis({ port: true });
  times = await decisionTimes(redis.client());
});
afterAll(async () => {
  times?.stop();
  await redis?.stop();
});

/** What `ab -n 1000 -c 200` counts. */
async function thousandFromTwoHundred(url: string, header: string): Promise<{ admitted: number; refused: number }> {
  const args = ['-q', '-n', '1000', '-c', '200', '-H', header, url];
  const { status, stdout, stderr } = await runCommand(ab, args, { timeoutMs: 100_000 });
  const counted = (label: string) => Number(new RegExp(`${label}:\\s+(\\d+)`).exec(stdout)?.[1] ?? 0);
  expect([status, counted('Complete requests')], stderr).toEqual([0, 1000]);
  // An answer of another length than the first is what ab calls failed; these would be real failures.
  for (const failure of ['Connect', 'Receive', 'Exceptions']) expect(counted(failure), stdout).toBe(0);
  const refused = counted('Non-2xx responses');
  return { admitted: 1000 - refused, refused };
}

/**
 * Whether so many are what the bucket had, and what has leaked from it between the first and the last decision. ab waits for
 * its first answer before it opens its other connections: by then the bucket may have been full again for a while.
 */
function expectLawful(admitted: number): void {
  const [first = 0, second = 0] = times.all;
  const last = times.all.at(-1) ?? 0;
  const atSecond = Math.min(BURST, BURST - 1 + RATE_PER_SECOND * (second - first));
  const lawful = 1 + Math.floor(atSecond + RATE_PER_SECOND * (last - second));
  expect(admitted).toBeGreaterThanOrEqual(lawful - 1);
  expect(admitted).toBeLessThanOrEqual(lawful + 1);
}

describe('ab -n 1000 -c 200 against 100 at once and 2 a second', () => {
  it('gets 100 and what leaks meanwhile, from Headgate itself', async () => {
    const folder = await HeadgateFolder.create({
      redis: redis.url,
      gateways: { keys: [GATEWAY_KEY] },
      types: {},
      policies,
    });
    try {
      const { url } = await folder.start('serve');
      const address = `${url}/v1/forward-auth?policy=api`;
      const { admitted } = await thousandFromTwoHundred(address, `X-Headgate-Gateway-Key: ${GATEWAY_KEY}`);
      expect(times.all.length).toBeGreaterThan(1);
      expectLawful(admitted);
    } finally {
      await folder.remove();
    }
  });

  it('gets 100 and what leaks meanwhile, from an API with the plugin whose callers have a slow line', async () => {
    await redis.flush();
    times.stop();
    times = await decisionTimes(redis.client());
    const app = fastify();
    // Two hundred at a time, a second apart: long enough for the rate to matter.
    app.addHook('onRequest', () => pause(1000));
    await app.register(plugin, { redis: redis.socketPath, policies, policy: 'api' });
    app.get('/', async () => 'ok');
    try {
      const url = await app.listen({ host: '127.0.0.1', port: 0 });
      const { admitted } = await thousandFromTwoHundred(`${url}/`, 'Accept: text/plain');
      expect((times.all.at(-1) ?? 0) - (times.all[0] ?? 0)).toBeGreaterThan(3.9);
      expectLawful(admitted);
    } finally {
      await app.close();
    }
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { numberField } from '../referee/json-field.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { ADMIN_KEY, type RefereedSystem, refereedSystem } from './support/refereed-system.js';

let redis: TestRedis;
let proxy: TcpProxy;
let system: RefereedSystem;
let api: HeadgateProcess;
let worker: HeadgateProcess;
let probes: string;

beforeAll(async () => {
  redis = await startRedis();
  proxy = await startTcpProxy(redis.socketPath);
  system = await refereedSystem(
    { redis: proxy.url, types: { a: {} }, tiers: { only: { rate: '50/s' } }, defaultTier: 'only' },
    { separateClocks: true, types: [{ type: 'a' }], buckets: [], otherwise: { ratePerSecond: 50, depth: 1000 } },
    { arrivalMs: 5000, lateMs: 5000 },
  );
  [api, worker] = await Promise.all([
    system.folder.start('serve'),
    system.folder.start('work', ['--health-listen', '0']),
  ]);
  const port = numberField(worker.said('worker is ready')[0], 'healthPort');
  probes = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await system?.end();
  await proxy?.stop();
  await redis?.stop();
});

const statusOf = async (url: string) => (await fetch(url)).status;
const readiness = async () => [await statusOf(`${probes}/readyz`), await statusOf(`${api.url}/readyz`)];

describe('packets that are swallowed, while every socket looks fine', () => {
  it('make worker and API say that they are not ready, and alive', async () => {
    expect(await readiness()).toEqual([200, 200]);
    proxy.swallow();
    await expect.poll(readiness).toEqual([503, 503]);
    expect([await statusOf(`${probes}/healthz`), await statusOf(`${api.url}/healthz`)]).toEqual([200, 200]);
  });

  it('make a job a 503 with Retry-After and the id to ask for', async () => {
    const answer = await fetch(`${api.url}/v1/jobs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'a', tenant: 'acme', data: {} }),
    });
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await answer.json()).toMatchObject({ code: 'redis_unavailable', id: expect.any(String) });
  });

  it('and come again make everything work by itself', async () => {
    await proxy.pass();
    await expect.poll(readiness).toEqual([200, 200]);
    const witness = system.witness(api.url);
    expect((await witness.enqueue({ type: 'a', tenant: 'acme', cost: 1 })).status).toBe(202);
    await witness.followToEnds();
    // The job of the 503 may have been delivered when the network came back, and may have run.
    const { violations } = await system.referee.verdict();
    expect(violations.filter(({ guarantee }) => guarantee !== 'G5')).toEqual([]);
  });
});

import { afterEach, describe, expect, test } from 'vitest';
import { closeConnection, openConnection, untilReady } from '../../src/redis/connection.js';
import { pingServers } from '../../src/redis/masters.js';
import { PROBE_MS, type WorkerReport, workerReport } from '../../workers/health.js';
import { type HealthServer, startHealthServer } from '../../workers/health-server.js';
import { startRedis } from '../support/redis-server.js';
import { startTcpProxy } from '../support/tcp-proxy.js';

const endings: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

const runner = (type: string, silentMs: number) => ({ source: { type }, silentMs });
const answering = { answering: 1, of: 1 };

describe('a worker', () => {
  test('is ready while Redis answers and every type with a free slot was told of jobs', () => {
    expect(workerReport(answering, [runner('a', 0), runner('b', 9000)])).toEqual({
      ready: true,
      checks: { redis: 'answers' },
    });
  });

  test('is not when a type with a free slot has heard nothing for 10 s', () => {
    const report = workerReport(answering, [runner('a', 0), runner('b', 12_000)]);
    expect(report).toEqual({
      ready: false,
      checks: { redis: 'answers', b: 'a slot is free and nothing was heard of jobs for 12 s' },
    });
  });

  test('is while one master of a cluster answers, and not when none does', () => {
    const reports = [1, 0].map((each) => workerReport({ answering: each, of: 3 }, [runner('a', 0)]));
    expect(reports).toEqual([
      { ready: true, checks: { redis: '1 of 3 masters answer' } },
      { ready: false, checks: { redis: 'does not answer' } },
    ]);
  });

  test('is not when packets are swallowed, though its socket looks fine', async () => {
    const server = await startRedis();
    endings.push(() => server.stop());
    const proxy = await startTcpProxy(server.socketPath);
    endings.push(() => proxy.stop());
    const redis = openConnection({ url: proxy.url }, { name: 'test', deadlineMs: 60_000, heartbeatMs: 3_600_000 });
    endings.push(() => closeConnection(redis));
    await untilReady(redis);
    expect(workerReport(await pingServers(redis, PROBE_MS), [])).toMatchObject({ ready: true });
    proxy.swallow('replies');
    expect(redis.status).toBe('ready');
    expect(workerReport(await pingServers(redis, PROBE_MS), [])).toEqual({
      ready: false,
      checks: { redis: 'does not answer' },
    });
    await proxy.pass();
    expect(workerReport(await pingServers(redis, PROBE_MS), [])).toMatchObject({ ready: true });
  });
});

describe('the probes', () => {
  async function probes(report: WorkerReport): Promise<(path: string, method?: string) => Promise<Response>> {
    const server: HealthServer = await startHealthServer({ host: '127.0.0.1', port: 0 }, async () => report, {
      contentType: 'text/plain',
      text: async () => 'metrics',
    });
    endings.push(() => server.close());
    return (path, method = 'GET') => fetch(`http://127.0.0.1:${server.port}${path}`, { method });
  }

  test('say 200 when ready, and 503 with what is wrong when not; alive in either case', async () => {
    const ready = await probes({ ready: true, checks: { redis: 'answers' } });
    const readyz = await ready('/readyz?probe=1');
    expect(readyz.status).toBe(200);
    expect(await readyz.json()).toEqual({ status: 'ready', checks: { redis: 'answers' } });
    const stuck = await probes({ ready: false, checks: { redis: 'does not answer' } });
    const refused = await stuck('/readyz');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toEqual({ status: 'not ready', checks: { redis: 'does not answer' } });
    expect((await stuck('/healthz')).status).toBe(200);
  });

  test('stand beside the metrics', async () => {
    const ask = await probes({ ready: false, checks: {} });
    const metrics = await ask('/metrics');
    expect([metrics.status, metrics.headers.get('content-type')]).toEqual([200, 'text/plain']);
    expect(await metrics.text()).toBe('metrics');
  });

  test('know nothing else', async () => {
    const ask = await probes({ ready: true, checks: {} });
    expect((await ask('/')).status).toBe(404);
    expect((await ask('/readyz', 'POST')).status).toBe(405);
  });
});

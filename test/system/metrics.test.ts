import { afterAll, beforeAll, expect, it } from 'vitest';
import { METRICS, type MetricRow } from '../../src/telemetry/metric-table.js';
import { numberField } from '../referee/json-field.js';
import type { Witness } from '../referee/witness.js';
import { faultsOfExposition, valueIn } from '../support/exposition.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { ADMIN_KEY, type RefereedSystem, refereedSystem } from './support/refereed-system.js';

let redis: TestRedis;
let proxy: TcpProxy;
let system: RefereedSystem;
let api: HeadgateProcess;
let worker: HeadgateProcess;
let ofWorker: string;
let witness: Witness;

const HOSTILE = 'bad"} 1\n\\';
const JOBS = { acme: 3, [HOSTILE]: 2, third: 2, fourth: 1 };

beforeAll(async () => {
  redis = await startRedis();
  proxy = await startTcpProxy(redis.socketPath);
  system = await refereedSystem(
    {
      redis: proxy.url,
      types: { a: {} },
      tiers: { only: { rate: '50/s', depth: 1000 } },
      defaultTier: 'only',
      metrics: { tenants: 2 },
      policies: { api: { rate: '1/h', burst: 2 } },
    },
    { separateClocks: true, types: [{ type: 'a' }], buckets: [], otherwise: { ratePerSecond: 50, depth: 1000 } },
    { arrivalMs: 5000, lateMs: 5000 },
  );
  [api, worker] = await Promise.all([
    system.folder.start('serve'),
    system.folder.start('work', ['--health-listen', '0']),
  ]);
  witness = system.witness(api.url);
  ofWorker = `http://127.0.0.1:${numberField(worker.said('worker is ready')[0], 'healthPort')}/metrics`;
});
afterAll(async () => {
  await system?.end();
  await proxy?.stop();
  await redis?.stop();
});

async function scraped(url: string): Promise<string> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
  expect(answer.status).toBe(200);
  return answer.text();
}
const scrape = async () => ({ api: await scraped(`${api.url}/metrics`), worker: await scraped(ofWorker) });

it('figures of both processes are what happened', async () => {
  for (const [tenant, count] of Object.entries(JOBS)) {
    for (let sent = 0; sent < count; sent += 1) {
      expect((await witness.enqueue({ type: 'a', tenant, cost: 1 })).status).toBe(202);
    }
  }
  for (let asked = 0; asked < 3; asked += 1) {
    const body = JSON.stringify({ policy: 'api', key: 'k', tenant: 'acme' });
    const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' };
    await fetch(`${api.url}/v1/check`, { method: 'POST', headers, body });
  }
  await witness.followToEnds();
  await expect.poll(async () => valueIn((await scrape()).worker, 'headgate_runs_ended_total')).toBe(8);
  const texts = await scrape();
  for (const [tenant, count] of [
    ['acme', 3],
    [HOSTILE, 2],
    ['other', 3],
  ] as const) {
    const labels = { type: 'a', tenant };
    expect(valueIn(texts.api, 'headgate_jobs_admitted_total', labels)).toBe(count);
    expect(valueIn(texts.worker, 'headgate_runs_started_total', labels)).toBe(count);
    expect(valueIn(texts.worker, 'headgate_runs_ended_total', { ...labels, outcome: 'completed' })).toBe(count);
    expect(valueIn(texts.worker, 'headgate_job_wait_seconds_count', labels)).toBe(count);
    expect(valueIn(texts.worker, 'headgate_job_run_seconds_count', labels)).toBe(count);
  }
  expect(valueIn(texts.worker, 'headgate_start_slip_seconds_count')).toBe(8);
  expect(valueIn(texts.worker, 'headgate_dispatch_lag_seconds_count')).toBeGreaterThan(0);
  expect(valueIn(texts.worker, 'headgate_locks_lost_total', { type: 'a' })).toBe(0);
  expect(valueIn(texts.api, 'headgate_script_seconds_count', { verb: 'admit' })).toBe(8);
  expect(valueIn(texts.api, 'headgate_policing_decisions_total', { outcome: 'conforming' })).toBe(2);
  expect(valueIn(texts.api, 'headgate_policing_decisions_total', { outcome: 'limited' })).toBe(1);
  expect(valueIn(texts.worker, 'headgate_script_seconds_count', { verb: 'settle' })).toBeGreaterThan(0);
  for (const text of Object.values(texts)) {
    expect(await faultsOfExposition(text)).toBe('');
    expect(valueIn(text, 'headgate_redis_up')).toBe(1);
  }
  const rows: readonly MetricRow[] = Object.values(METRICS);
  const own = rows.filter(({ of }) => of !== 'api').map(({ name }) => name);
  expect([...texts.worker.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name).toSorted()).toEqual(own.toSorted());
});

it('what waits is seen while it waits', async () => {
  const answer = await witness.enqueue({ type: 'a', tenant: 'acme', cost: 1, delayMs: 5000 });
  expect(answer.status).toBe(202);
  await expect.poll(async () => valueIn((await scrape()).api, 'headgate_jobs_delayed', { tenant: 'acme' })).toBe(1);
});

it('without Redis both answer with what they know, and say so', async () => {
  proxy.swallow();
  await expect.poll(async () => valueIn((await scrape()).api, 'headgate_redis_up')).toBe(0);
  const texts = await scrape();
  expect(valueIn(texts.worker, 'headgate_redis_up')).toBe(0);
  expect(valueIn(texts.api, 'headgate_jobs_admitted_total')).toBe(9);
  expect(valueIn(texts.api, 'headgate_type_jobs_running')).toBeUndefined();
  await proxy.pass();
  await expect.poll(async () => valueIn((await scrape()).api, 'headgate_redis_up')).toBe(1);
  await expect.poll(async () => valueIn((await scrape()).worker, 'headgate_runs_ended_total')).toBe(9);
  await witness.followToEnds();
  expect((await system.referee.verdict()).violations).toEqual([]);
});

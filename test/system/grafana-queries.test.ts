import { afterAll, beforeAll, expect, it } from 'vitest';
import { field, numberField } from '../referee/json-field.js';
import type { Witness } from '../referee/witness.js';
import { asAsked, type GrafanaTarget, grafanaDashboard } from '../support/grafana-dashboard.js';
import { type PrometheusServer, startPrometheus } from '../support/prometheus-server.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { ADMIN_KEY, idOf, type RefereedSystem, refereedSystem } from './support/refereed-system.js';

/** What Grafana puts in where it is told of scrapes a second apart, and some more for a busy machine. */
const INTERVAL = '10s';
/** One place, and one start a minute: whoever comes soon after another is refused. */
const SMALL = { ratePerSecond: 1 / 60, burst: 1, depth: 1 };

let redis: TestRedis;
let proxy: TcpProxy;
let system: RefereedSystem;
let prometheus: PrometheusServer;
let witness: Witness;
let apiUrl: string;
const waiting: string[] = [];

beforeAll(async () => {
  redis = await startRedis();
  proxy = await startTcpProxy(redis.socketPath);
  system = await refereedSystem(
    {
      redis: proxy.url,
      types: { a: { attempts: 2, backoff: { type: 'fixed', delay: '20ms' } } },
      tiers: { only: { rate: '50/s', depth: 1000 } },
      defaultTier: 'only',
      tenants: { small: { rate: '1/m', burst: 1, depth: SMALL.depth } },
      policies: { api: { rate: '1/h', burst: 2, onOutage: 'open' } },
    },
    {
      separateClocks: true,
      types: [{ type: 'a' }],
      buckets: [{ type: 'a', tenant: 'small', ...SMALL }],
      otherwise: { ratePerSecond: 50, depth: 1000 },
    },
    { arrivalMs: 5000, lateMs: 5000 },
  );
  const [api, worker] = await Promise.all([
    system.folder.start('serve'),
    system.folder.start('work', ['--health-listen', '0']),
  ]);
  apiUrl = api.url;
  witness = system.witness(apiUrl);
  const port = numberField(worker.said('worker is ready')[0], 'healthPort');
  prometheus = await startPrometheus({
    api: { target: new URL(apiUrl).host, key: ADMIN_KEY },
    worker: { target: `127.0.0.1:${port}` },
  });
}, 180_000);
afterAll(async () => {
  await prometheus?.stop();
  await system?.end();
  await proxy?.stop();
  await redis?.stop();
});

async function check(): Promise<unknown> {
  const body = JSON.stringify({ policy: 'api', key: 'k', tenant: 'acme' });
  const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' };
  return (await fetch(`${apiUrl}/v1/check`, { method: 'POST', headers, body })).json();
}

/** A bit of everything that a system does: jobs that end at once or at their second attempt, and some that are refused. */
async function goOn(): Promise<void> {
  const small = await witness.enqueue({ type: 'a', tenant: 'small', cost: 1 });
  if (small.status === 202) waiting.push(idOf(small));
  await witness.enqueue({ type: 'a', tenant: 'acme', cost: 1 });
  await witness.enqueue({ type: 'a', tenant: 'retried', cost: 1, data: { fail: 1 } });
  await check();
}

it('a real Prometheus that scraped a real run has something for every query of the dashboard', async () => {
  const { referee } = system;
  const from = referee.now();
  await proxy.refuse();
  await expect.poll(async () => field(await check(), 'allowed'), { timeout: 60_000 }).toBe(true);
  await proxy.pass();
  // Until the API has its connection back, a caller may still be told that Redis is away.
  await expect.poll(async () => (await fetch(`${apiUrl}/readyz`)).status, { timeout: 60_000 }).toBe(200);
  await expect
    .poll(async () => (await witness.enqueue({ type: 'a', tenant: 'acme', cost: 1 })).status, { timeout: 60_000 })
    .toBe(202);
  referee.recordOutage({ from, to: referee.now(), note: 'the network to Redis refused connections' });

  const { panels, templating } = await grafanaDashboard();
  const targets = panels.flatMap(({ title, targets: all = [] }) => all.map((target) => ({ title, target })));
  let unanswered = targets;
  const hasData = async (target: GrafanaTarget): Promise<boolean> => {
    const found = (await prometheus.query(asAsked(target, INTERVAL))).filter(({ value }) => Number.isFinite(value));
    const named = [...target.legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
    for (const { labels } of found) expect(Object.keys(labels), target.expr).toEqual(expect.arrayContaining(named));
    return found.length > 0;
  };
  await expect
    .poll(
      async () => {
        await goOn();
        const answers = await Promise.all(unanswered.map(({ target }) => hasData(target)));
        unanswered = unanswered.filter((_, i) => answers[i] === false);
        return unanswered.map(({ title, target }) => `${title}: ${target.expr}`);
      },
      { timeout: 120_000, interval: 200 },
    )
    .toEqual([]);

  // Of types that nobody chose there is nothing.
  const chosen = targets.filter(({ target }) => target.expr.includes('$type'));
  expect(chosen.length).toBeGreaterThan(20);
  for (const { target } of chosen) {
    expect(await prometheus.query(asAsked(target, INTERVAL, 'another')), target.expr).toEqual([]);
  }
  const [, metric = '', label = ''] = /label_values\((\w+), (\w+)\)/.exec(typeQuery(templating.list)) ?? [];
  expect(await prometheus.labelValues(metric, label)).toContain('a');

  for (const id of waiting) await witness.cancel('small', id);
  await witness.followToEnds();
  await referee.expectNoViolations();
});

function typeQuery(variables: Awaited<ReturnType<typeof grafanaDashboard>>['templating']['list']): string {
  const query = variables.find(({ name }) => name === 'type')?.query;
  return typeof query === 'object' ? query.query : '';
}

import { afterEach, expect, test } from 'vitest';
import { ApiMetrics } from '../../src/http/api-metrics.js';
import { doorOf } from '../../src/http/door.js';
import { DEFAULT_PROFILE } from '../../src/model/profile.js';
import type { DecisionCount } from '../../src/policing/policing.js';
import { RedisUnavailable } from '../../src/redis/outage.js';
import type { BucketView, TypeView } from '../../src/shaping/shaping.js';
import { METRICS, type MetricRow } from '../../src/telemetry/metric-table.js';
import { faultsOfExposition, samplesOf, valueIn } from '../support/exposition.js';
import { admitAll, type Script, scriptedShaping } from './support/scripted-shaping.js';
import { as, post, problemIn, testApp } from './support/test-app.js';
import { testConfig } from './support/test-config.js';

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

const HOSTILE = [
  'quote " and \\ back',
  'two\nlines\r\n',
  'markup <b>',
  '\u202eright to left',
  'a\u0000\u001b[31m',
  'other',
  '"} 1\n',
];

function typeView(type: string): TypeView {
  const capacity = { ratePerSecond: 1, burst: 1, concurrency: 1 };
  return {
    type,
    capacity,
    backloggedBuckets: 3,
    readyBuckets: 2,
    running: 1,
    servedPerSecond: 0.5,
    meanRunMs: null,
    scarceForMs: 1500,
  };
}

function bucketView(type: string, tenant: string, waiting: number): BucketView {
  const rest = { delayed: 0, running: 1, waitingCost: waiting, waitingBytes: 0, nextStartMs: null };
  return {
    type,
    tenant,
    profile: DEFAULT_PROFILE,
    level: 0.25,
    waiting,
    ...rest,
    servedPerSecond: 0,
    deservedPerSecond: 0,
  };
}

const NO_DECISIONS: readonly DecisionCount[] = [];

async function served(script: Script, { tenants = 10, open = false, counts = NO_DECISIONS } = {}) {
  const { shaping } = scriptedShaping({ type: async (name) => typeView(name), ...script });
  const door = doorOf(await testConfig());
  const metrics = new ApiMetrics({
    ...{ shaping, typeNames: door.typeNames, tenants },
    policing: { counts: () => counts },
    remoteTypes: [],
  });
  const { app } = await testApp({ shaping, metrics: { of: metrics, open } });
  endings.push(() => app.close());
  const scrape = async () => {
    const answer = await app.inject(as('admin', { url: '/metrics' }));
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    return answer.body;
  };
  return { app, metrics, scrape };
}

test('jobs are counted at the door: admitted, and rejected by the code of their problem', async () => {
  const { app, scrape } = await served({
    admit: async (_type, tenant, jobs) =>
      tenant === 'acme' ? admitAll(jobs) : { admissions: jobs.map(() => FULL), depth: 1, freePlaces: 0 },
  });
  await app.inject(post({ type: 'chat', data: {} }));
  await app.inject(
    as('acme', { method: 'POST', url: '/v1/jobs/batch', payload: { jobs: [{ type: 'chat', data: {} }] } }),
  );
  await app.inject(as('small', { method: 'POST', url: '/v1/jobs', payload: { type: 'chat', data: {} } }));
  await app.inject(
    as('small', { method: 'POST', url: '/v1/jobs/batch', payload: { jobs: [{ type: 'chat', data: {} }] } }),
  );
  const text = await scrape();
  expect(valueIn(text, 'headgate_jobs_admitted_total', { type: 'chat', tenant: 'acme' })).toBe(2);
  expect(valueIn(text, 'headgate_jobs_admitted_total', { tenant: 'small' })).toBeUndefined();
  expect(valueIn(text, 'headgate_jobs_rejected_total', { tenant: 'small', reason: 'bucket_full' })).toBe(2);
});

const FULL = { verdict: 'rejected', reason: 'bucket_full', limit: 'depth', retryAfterMs: 1000 } as const;

test('what waits stands by tenant up to the bound, the rest summed; names mean nothing, whatever is in them', async () => {
  const tenants = ['first', ...HOSTILE, 'last', 'very last'];
  const { scrape } = await served(
    { buckets: async (type) => ({ buckets: tenants.map((tenant, i) => bucketView(type, tenant, i + 1)) }) },
    { tenants: tenants.length - 3 },
  );
  const text = await scrape();
  const waiting = samplesOf(text).filter(
    ({ name, labels }) => name === 'headgate_jobs_waiting' && labels.type === 'ocr',
  );
  const named = ['first', ...HOSTILE.filter((tenant) => tenant !== 'other')];
  expect(waiting.map(({ labels }) => labels.tenant)).toEqual(expect.arrayContaining(named));
  expect(valueIn(text, 'headgate_jobs_waiting', { type: 'ocr', tenant: 'other' })).toBe(7 + 9 + 10);
  const ofFirst = { type: 'ocr', tenant: 'first' };
  expect(valueIn(text, 'headgate_bucket_level_units', ofFirst)).toBe(0.25);
  expect(valueIn(text, 'headgate_jobs_running', ofFirst)).toBe(1);
  expect(valueIn(text, 'headgate_jobs_running', { type: 'ocr', tenant: 'other' })).toBe(3);
  expect(valueIn(text, 'headgate_type_jobs_running', { type: 'ocr' })).toBe(1);
  expect(valueIn(text, 'headgate_type_scarce_seconds', { type: 'ocr' })).toBe(1.5);
  expect(await faultsOfExposition(text)).toBe('');
});

test('decisions are shown by outcome, those of stand-ins again', async () => {
  const of = { policy: 'api', allowed: true } as const;
  const { scrape } = await served(
    {},
    {
      counts: [
        { ...of, outcome: 'conforming', decidedBy: 'policer', count: 5 },
        { ...of, outcome: 'unknown', decidedBy: 'open', count: 2 },
      ],
    },
  );
  for (const text of [await scrape(), await scrape()]) {
    expect(valueIn(text, 'headgate_policing_decisions_total', { outcome: 'conforming' })).toBe(5);
    expect(valueIn(text, 'headgate_policing_outage_decisions_total')).toBe(2);
  }
});

test('without Redis the answer is what the process knows, and that Redis is away', async () => {
  let isAway = false;
  const { app, scrape } = await served({
    buckets: async (type) => ({ buckets: [bucketView(type, 'acme', 1)] }),
    ping: async () => {
      if (isAway) throw new RedisUnavailable('away');
    },
  });
  await app.inject(post({ type: 'chat', data: {} }));
  expect(valueIn(await scrape(), 'headgate_redis_up')).toBe(1);
  isAway = true;
  const text = await scrape();
  expect([valueIn(text, 'headgate_redis_up'), valueIn(text, 'headgate_jobs_waiting')]).toEqual([0, undefined]);
  expect(valueIn(text, 'headgate_jobs_admitted_total')).toBe(1);
  isAway = false;
  expect(valueIn(await scrape(), 'headgate_jobs_waiting', { type: 'chat' })).toBe(1);
});

test('many scrapes at once read Redis once, and at most so many buckets of it', async () => {
  let pages = 0;
  const { scrape } = await served({
    type: async (name) => ({ ...typeView(name), backloggedBuckets: 5000 }),
    buckets: async (type, cursor = '0') => {
      pages += 1;
      const from = Number(cursor);
      const buckets = Array.from({ length: 100 }, (_, i) => bucketView(type, `t${from + i}`, 1));
      return { buckets, cursor: String(from + 100) };
    },
  });
  const [text = ''] = await Promise.all([scrape(), scrape(), scrape()]);
  expect(pages).toBe(3 * 10);
  expect(valueIn(text, 'headgate_jobs_waiting', { type: 'ocr' })).toBe(1000);
  expect(valueIn(text, 'headgate_type_buckets_unread', { type: 'ocr' })).toBe(4000);
  expect(samplesOf(text).filter(({ name }) => name === 'headgate_jobs_waiting')).toHaveLength(3 * 11);
});

test('the metrics are for admin keys, unless they are open', async () => {
  const { app } = await served({});
  expect(problemIn(await app.inject({ url: '/metrics' })).code).toBe('missing_key');
  expect(problemIn(await app.inject(as('acme', { url: '/metrics' }))).code).toBe('admin_only');
  const open = await served({}, { open: true });
  expect((await open.app.inject({ url: '/metrics' })).statusCode).toBe(200);
});

test('the API has every metric of the table that is its', async () => {
  const { metrics, scrape } = await served({});
  metrics.watchScript('admit', 1);
  const text = await scrape();
  const rows: readonly MetricRow[] = Object.values(METRICS);
  const own = rows.filter(({ of }) => of !== 'worker').map(({ name }) => name);
  expect([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name).toSorted()).toEqual(own.toSorted());
});

test('with 10,000 tenants at the door, waiting and running elsewhere, a scrape stays below a megabyte', async () => {
  const names = Array.from({ length: 10_000 }, (_, i) => `tenant-with-a-rather-long-name-${i}`);
  const buckets = async (type: string, cursor = '0') => {
    const from = Number(cursor);
    const page = names.slice(from, from + 100).map((tenant) => bucketView(type, tenant, 1));
    return { buckets: page, cursor: String(from + 100) };
  };
  const { metrics, scrape } = await served({ buckets }, { tenants: 50 });
  for (const tenant of names) {
    for (const type of ['ocr', 'chat', 'llm']) {
      const run = { type, tenant, id: tenant, attempt: 1 };
      for (const reason of ['bucket_full', 'wait_too_long'] as const) metrics.tally.rejected({ type, tenant }, reason);
      metrics.runs.started(run, { basis: 'rate', slipMs: 1 });
      const outcome = { kind: 'completed', value: '1' };
      metrics.runs.ended({ job: run, outcome, verdict: 'settled', waitMs: 1, runMs: 1 });
    }
  }
  const text = await scrape();
  expect(samplesOf(text).length).toBeGreaterThan(1000);
  expect(Buffer.byteLength(text)).toBeLessThan(1_000_000);
});

import { describe, expect, test } from 'vitest';
import { EventStream } from '../http/support/event-stream.js';
import type { LiveApp } from '../http/support/live-app.js';
import { liveTests } from '../http/support/live-tests.js';
import { KEYS } from '../http/support/test-config.js';
import { eventually } from '../support/eventually.js';
import { withDashboard } from './support/dashboard-parts.js';

const YAML = `
types:
  ocr: { capacity: { rate: 20/s } }
  chat: {}
tiers:
  pro: { rate: 1/h, burst: 1, weight: 4, depth: 10 }
  free: { rate: 1/h, depth: 3 }
defaultTier: free
tenants:
  acme: { tier: pro }
  small: {}
`;
const { api, another } = liveTests(withDashboard);

const patient = { timeout: 15_000, interval: 50 };
const streams: EventStream[] = [];

async function start(): Promise<{ app: LiveApp; url: string }> {
  const app = await another(YAML);
  return { app, url: await app.app.listen({ host: '127.0.0.1', port: 0 }) };
}

async function look(url: string, query = '', key: keyof typeof KEYS = 'admin'): Promise<EventStream> {
  const stream = await EventStream.open(`${url}/dashboard/stream${query}`, KEYS[key]);
  streams.push(stream);
  return stream;
}

async function fill(app: LiveApp, tenant: string, count: number, type = 'ocr'): Promise<void> {
  for (let i = 0; i < count; i += 1) await app.ask('POST', '/v1/jobs', { type, tenant, data: {} });
}

/** The rows that a page knows by all that it was told. */
function rowsOf(stream: EventStream): Record<string, Record<string, unknown>> {
  const rows = stream.data('buckets').flatMap((data) => data.rows as Record<string, unknown>[]);
  return Object.fromEntries(rows.map((row) => [row.tenant, row]));
}

const lastOf = (stream: EventStream, event: string) => stream.data(event).at(-1) ?? {};

async function leaveAll(): Promise<void> {
  for (const stream of streams.splice(0)) stream.leave();
}

describe('an admin’s page', () => {
  test('is told everything at first, and from then on what changes', async () => {
    const { app, url } = await start();
    await fill(app, 'acme', 2);
    await fill(app, 'small', 3);
    const stream = await look(url, '?type=ocr&sort=tenant');
    const { headers } = stream.response;
    expect([headers.get('content-type'), headers.get('x-accel-buffering')]).toEqual([
      'text/event-stream; charset=utf-8',
      'no',
    ]);
    await eventually(
      () =>
        expect(stream.events).toEqual(expect.arrayContaining(['hello', 'overview', 'history', 'buckets', 'summary'])),
      patient,
    );
    expect(lastOf(stream, 'hello')).toMatchObject({
      role: 'admin',
      type: 'ocr',
      types: ['ocr', 'chat'],
      version: '1.2.3',
    });
    expect(stream.data('overview')[0]?.types).toMatchObject([
      { type: 'ocr', waiting: 5, capacityPerSecond: 20, backloggedBuckets: 2, running: 0, paused: false },
      { type: 'chat', waiting: 0, capacityPerSecond: null, backloggedBuckets: 0 },
    ]);
    expect(stream.data('buckets')[0]).toMatchObject({ type: 'ocr', total: 2, order: ['acme', 'small'] });
    expect(rowsOf(stream).small).toMatchObject({ waiting: 3, depth: 3, weight: 1, mode: 'shape', trouble: ['full'] });
    expect(lastOf(stream, 'summary')).toMatchObject({
      type: 'ocr',
      counts: { full: 1, paused: 0 },
      names: { full: ['small'] },
    });

    const told = stream.data('buckets').length;
    await fill(app, 'acme', 1);
    await eventually(() => expect(rowsOf(stream).acme?.waiting).toBe(3), patient);
    const later = stream.data('buckets').slice(told);
    expect(later.flatMap(({ rows }) => (rows as { tenant: string }[]).map(({ tenant }) => tenant))).not.toContain(
      'small',
    );
    expect(later.some(({ order }) => order !== undefined)).toBe(false);
    await leaveAll();
  });

  test('shows the window, the search and the bucket that it asks for', async () => {
    const { app, url } = await start();
    for (const tenant of ['team-a', 'team-b', 'other']) await fill(app, tenant, 1);
    const stream = await look(url, '?type=ocr&q=TEAM&sort=tenant&from=1&count=1&tenant=nobody');
    await eventually(() => expect(lastOf(stream, 'buckets')).toMatchObject({ total: 2, order: ['team-b'] }), patient);
    await eventually(
      () =>
        expect(lastOf(stream, 'tenant')).toMatchObject({
          tenant: 'nobody',
          type: 'ocr',
          row: { waiting: 0 },
          waitMs: null,
        }),
      patient,
    );
    await leaveAll();
  });

  test('of a type that there is not shows the first', async () => {
    const { url } = await start();
    const stream = await look(url, '?type=gone');
    await eventually(() => expect(lastOf(stream, 'hello')).toMatchObject({ type: 'ocr' }), patient);
    await leaveAll();
  });

  test.each(['?sort=name', '?count=201', '?from=-1', '?more=1'])('is refused %s', async (query) => {
    const { app } = await start();
    const { status } = await app.ask('GET', `/dashboard/stream${query}`);
    expect(status).toBe(400);
  });

  test('shows what every process refuses', async () => {
    const { url } = await start();
    const { app: other } = await start();
    await fill(other, 'small', 5);
    const stream = await look(url, '?type=ocr');
    await eventually(() => expect(rowsOf(stream).small?.refusedPerMinute).toBe(2), patient);
    expect(rowsOf(stream).small?.trouble).toEqual(['full', 'refusing']);
    await leaveAll();
  });

  test('is closed when its key is revoked', async () => {
    const { app, url } = await start();
    const made = await app.ask('POST', '/v1/tenants/acme/keys');
    const stream = await EventStream.open(`${url}/dashboard/stream`, String(made.body.key));
    await eventually(() => expect(stream.events).toContain('hello'), patient);
    await app.ask('DELETE', `/v1/tenants/acme/keys/${made.body.id}`);
    await stream.ended;
  });

  test('needs a key or a session', async () => {
    const { app } = await start();
    for (const url of ['/dashboard/stream', '/dashboard/jobs/x/payload'])
      expect((await app.app.inject(url)).statusCode).toBe(401);
    expect((await app.app.inject({ method: 'POST', url: '/dashboard/preview', payload: {} })).statusCode).toBe(401);
  });
});

describe('a tenant’s page', () => {
  test('has nothing in any event that comes from another tenant', async () => {
    const { app, url } = await start();
    await fill(app, 'rival-of-acme', 3);
    await fill(app, 'rival-of-acme', 2, 'chat');
    await fill(app, 'acme', 2);
    // An admin watches at the same time, so that the others are known here.
    const admin = await look(url, '?type=ocr');
    await eventually(() => expect(Object.keys(rowsOf(admin))).toHaveLength(2), patient);
    const stream = await look(url, '?type=ocr&tenant=acme', 'acme');
    const searching = await look(url, '?type=ocr&q=rival', 'acme');
    await eventually(
      () =>
        expect(stream.events).toEqual(expect.arrayContaining(['overview', 'history', 'buckets', 'summary', 'tenant'])),
      patient,
    );
    await fill(app, 'rival-of-acme', 2);
    await fill(app, 'acme', 1);
    await eventually(() => expect(rowsOf(stream).acme?.waiting).toBe(3), patient);
    await eventually(() => expect(stream.events).toContain('point'), patient);

    expect(JSON.stringify([stream.messages, searching.messages])).not.toContain('rival');
    expect(lastOf(stream, 'hello')).toMatchObject({ role: 'tenant', tenant: 'acme' });
    for (const { types } of stream.data('overview')) {
      for (const row of types as Record<string, unknown>[]) {
        expect(row).toMatchObject({ scarceForMs: 0, jain: null });
        expect(row.backloggedBuckets).toBe(row.type === 'ocr' ? 1 : 0);
        expect(row.waiting).toBeLessThanOrEqual(row.type === 'ocr' ? 3 : 0);
      }
    }
    expect(rowsOf(stream).acme).toMatchObject({ received: null, deserved: null });
    for (const summary of stream.data('summary'))
      expect(summary).toMatchObject({ shares: [], counts: { full: 0, refusing: 0 } });
    for (const { points } of stream.data('history'))
      for (const point of points as number[][]) expect(point[4]).toBeLessThanOrEqual(3);
    expect(lastOf(searching, 'buckets')).toMatchObject({ total: 0, rows: [] });
    await leaveAll();
  });

  test('cannot ask for another’s', async () => {
    const { app } = await start();
    const { status, body } = await app.ask('GET', '/dashboard/stream?tenant=small', undefined, 'acme');
    expect([status, body.code]).toEqual([403, 'tenant_forbidden']);
    const preview = { type: 'ocr', tenant: 'small', rate: '2/s' };
    expect((await app.ask('POST', '/dashboard/preview', preview, 'acme')).body.code).toBe('tenant_forbidden');
  });

  test('is one of at most fifty', async () => {
    const { url } = await start();
    for (let i = 0; i < 50; i += 1) await look(url, '', 'acme');
    const more = await look(url, '', 'acme');
    expect(more.response.status).toBe(429);
    expect((await look(url, '', 'small')).response.status).toBe(200);
    await leaveAll();
    await eventually(async () => expect((await look(url, '', 'acme')).response.status).toBe(200), patient);
    await leaveAll();
  });
});

describe('beside the stream', () => {
  test('a preview tells when what waits would end at another rate, and changes nothing', async () => {
    const { app } = await start();
    await fill(app, 'acme', 4);
    const { status, body } = await app.ask('POST', '/dashboard/preview', {
      type: 'ocr',
      tenant: 'acme',
      rate: '3600/h',
    });
    expect([status, body.waiting]).toEqual([200, 4]);
    const [ends, would] = [Date.parse(String(body.endsAt)), Date.parse(String(body.wouldEndAt))];
    expect((ends - would) / 1000).toBeCloseTo(3 * 3600 - 3, -1);
    const { body: stats } = await app.ask('GET', '/v1/stats?type=ocr&tenant=acme');
    expect(stats).toMatchObject({ buckets: [{ waiting: 4, waitingCost: 4 }] });
  });

  test.each([
    { body: { type: 'ocr', tenant: 'acme', rate: 'fast' }, code: 'invalid_field', field: 'rate' },
    { body: { type: 'ocr', tenant: 'acme', rate: '1e9/s' }, code: 'invalid_field', field: 'rate' },
    { body: { type: 'ocr', tenant: 'acme' }, code: 'missing_field', field: 'rate' },
    { body: { type: 'gone', tenant: 'acme', rate: '1/s' }, code: 'unknown_type', field: 'type' },
    { body: { type: 'ocr', rate: '1/s' }, code: 'missing_field', field: 'tenant' },
  ])('a preview of $body is refused by its $field', async ({ body, code, field }) => {
    const { app } = await start();
    const answer = await app.ask('POST', '/dashboard/preview', body);
    expect([answer.status, answer.body.code, answer.body.field]).toEqual([400, code, field]);
  });

  test('a payload is shown on demand, to its own tenant', async () => {
    const { app } = await start();
    const data = { name: '<b>‮x', list: [1, null] };
    const { body } = await app.ask('POST', '/v1/jobs', { type: 'ocr', tenant: 'acme', data });
    expect((await app.ask('GET', `/dashboard/jobs/${body.id}/payload?tenant=acme`)).body).toEqual({ data });
    expect((await app.ask('GET', `/dashboard/jobs/${body.id}/payload`, undefined, 'acme')).body).toEqual({ data });
    for (const id of [body.id, 'x', `${body.id}x`]) {
      const other = await app.ask('GET', `/dashboard/jobs/${id}/payload`, undefined, 'small');
      expect([other.status, other.body.code]).toEqual([404, 'job_not_found']);
    }
    expect((await app.ask('GET', `/dashboard/jobs/${body.id}/payload`)).body.code).toBe('missing_field');
  });

  test('counts of the door stand in Redis for two minutes', async () => {
    const { app } = await start();
    await fill(app, 'acme', 1);
    const key = await eventually(async () => {
      const [found] = await api.redis.keys('*:door:*');
      expect(found).toBeDefined();
      return found ?? '';
    }, patient);
    expect(await api.redis.hgetall(key)).toEqual({ a: '1' });
    expect(await api.redis.pttl(key)).toBeLessThanOrEqual(120_000);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newWebhookSecret, webhookSecret } from '../../src/config/webhook-secret.js';
import { LONGEST_WEBHOOK_URL } from '../../src/config/webhook-url.js';
import { WEBHOOK_EVENTS } from '../../src/model/webhook.js';
import { encodeTenant, queuePrefix, shardTag } from '../../src/redis/keys.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { type LiveApp, liveApp } from './support/live-app.js';

const SECRET = newWebhookSecret();
const URL = 'https://hooks.example/a';
const YAML = `
types: { chat: {} }
tiers: { only: { rate: unlimited } }
defaultTier: only
tenants:
  acme: { webhook: { secret: ${SECRET} } }
  filed: { webhook: { url: ${URL}, events: [failed, expired], secret: ${SECRET} } }
`;

let server: TestRedis;
let api: LiveApp;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(async () => {
  await server.flush();
  api = await liveApp(server.socketPath, YAML);
  return () => api.close();
});

const post = (webhook: unknown, tenant = 'acme') =>
  api.ask('POST', '/v1/jobs', { type: 'chat', data: {}, tenant, ...(webhook !== undefined && { webhook }) });

/** What stands in a job's hash of its webhook. */
const markOf = (id: unknown, tenant: string) =>
  api.redis.hget(`${queuePrefix(shardTag('chat'))}:${encodeTenant(tenant)}:${String(id)}`, 'hg:u');

describe('a job', () => {
  test.each([
    [{ url: URL }, 'acme', `cfex ${URL}`],
    [{ url: 'HTTPS://hooks.example/a#b', events: ['cancelled', 'completed', 'completed'] }, 'acme', `cx ${URL}`],
    [{ url: 'https://other.example', events: ['completed'] }, 'filed', 'c https://other.example/'],
    [undefined, 'filed', 'fe'],
    [undefined, 'acme', null],
    [undefined, 'stranger', null],
  ])('with the webhook %j of tenant %s is marked %j', async (webhook, tenant, mark) => {
    const { status, body } = await post(webhook, tenant);
    expect(status).toBe(202);
    expect(await markOf(body.id, tenant)).toBe(mark);
  });

  test.each<[unknown, string]>([
    ['https://hooks.example/', 'webhook'],
    [{}, 'webhook.url'],
    [{ url: 7 }, 'webhook.url'],
    [{ url: '' }, 'webhook.url'],
    [{ url: 'hooks.example' }, 'webhook.url'],
    [{ url: 'ftp://hooks.example/' }, 'webhook.url'],
    [{ url: 'https://me:pw@hooks.example/' }, 'webhook.url'],
    [{ url: 'http://127.0.0.1:6379/' }, 'webhook.url'],
    [{ url: 'http://0177.0.0.1/' }, 'webhook.url'],
    [{ url: 'http://169.254.169.254/' }, 'webhook.url'],
    [{ url: 'http://[::ffff:127.0.0.1]/' }, 'webhook.url'],
    [{ url: 'http://localhost:8080/' }, 'webhook.url'],
    [{ url: `https://hooks.example/${'x'.repeat(LONGEST_WEBHOOK_URL)}` }, 'webhook.url'],
    [{ url: URL, events: [] }, 'webhook.events'],
    [{ url: URL, events: 'failed' }, 'webhook.events'],
    [{ url: URL, events: ['done'] }, 'webhook.events[0]'],
    [{ url: URL, secret: SECRET }, 'webhook.secret'],
  ])('with the webhook %j is refused, naming %s', async (webhook, name) => {
    const { status, body } = await post(webhook);
    expect(status).toBe(400);
    expect(body.field).toBe(name);
    const batch = await api.ask('POST', '/v1/jobs/batch', {
      tenant: 'acme',
      jobs: [{ type: 'chat', data: {}, webhook }],
    });
    expect([batch.status, batch.body.field]).toEqual([400, `jobs[0].${name}`]);
  });

  test('of a tenant without a secret is refused: nothing could be signed', async () => {
    expect(await post({ url: URL }, 'stranger')).toMatchObject({
      status: 400,
      body: { code: 'invalid_field', field: 'webhook', detail: expect.stringContaining('no secret to sign with') },
    });
  });

  test('is another one under its idempotency key when its webhook is another', async () => {
    const jobs = (url: string) => [{ type: 'chat', data: {}, idempotencyKey: 'k', webhook: { url } }];
    const send = (url: string) => api.ask('POST', '/v1/jobs/batch', { tenant: 'acme', jobs: jobs(url) });
    await send(URL);
    expect(await send(URL)).toMatchObject({ body: { jobs: [{ verdict: 'admitted', replayed: true }] } });
    expect(await send(`${URL}b`)).toMatchObject({
      body: { jobs: [{ verdict: 'rejected', problem: { code: 'idempotency_mismatch' } }] },
    });
  });
});

describe('an administrator', () => {
  const change = (webhook: unknown, tenant = 'new', method: 'PATCH' | 'PUT' = 'PATCH') =>
    api.ask(method, `/v1/tenants/${tenant}`, { webhook });
  const held = (tenant = 'new') => api.live.view.tenants.get(tenant)?.webhook.secret;

  test('gives a tenant a webhook, and is shown the secret that was made, this once', async () => {
    const { status, body } = await change({ url: URL, events: ['failed'] });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      webhook: { url: URL, events: ['failed'], signed: true },
      overrides: { webhook: { url: URL, events: ['failed'] } },
      retimed: 0,
    });
    expect(webhookSecret(String(body.webhookSecret), {})).toEqual({ value: held() });
    const read = await api.ask('GET', '/v1/tenants/new');
    expect(read.body.webhook).toEqual({ url: URL, events: ['failed'], signed: true });
    expect(JSON.stringify(read.body)).not.toContain('whsec_');
    expect(await markOf((await post(undefined, 'new')).body.id, 'new')).toBe('f');
  });

  test('keeps the secret when he changes something else, and makes a new one by clearing it', async () => {
    const first = (await change({})).body.webhookSecret;
    expect(first).toBe(held());
    expect((await change({ url: URL })).body).not.toHaveProperty('webhookSecret');
    expect((await change({ url: `${URL}b` }, 'new', 'PUT')).body).not.toHaveProperty('webhookSecret');
    expect(held()).toBe(first);
    const second = (await change({ secret: null })).body.webhookSecret;
    expect(second).toBe(held());
    expect(second).not.toBe(first);
  });

  test('may state a secret, which is not shown, and take the whole away again', async () => {
    const { body } = await change({ url: URL, secret: SECRET });
    expect(held()).toBe(SECRET);
    expect(JSON.stringify(body)).not.toContain('whsec_');
    expect((await change(null)).body.webhook).toEqual({ url: null, events: [...WEBHOOK_EVENTS], signed: false });
    expect(await markOf((await post(undefined, 'new')).body.id, 'new')).toBe(null);
  });

  test('changes single fields of what the file says, and makes no secret where that has one', async () => {
    const { body } = await change({ events: ['completed'] }, 'filed');
    expect(body.webhook).toEqual({ url: URL, events: ['completed'], signed: true });
    expect(body).not.toHaveProperty('webhookSecret');
    expect((await change({ secret: null }, 'filed')).body).not.toHaveProperty('webhookSecret');
  });

  test.each([
    [{ url: 'http://10.0.0.1/' }, 'webhook.url'],
    [{ url: 'x' }, 'webhook.url'],
    [{ events: ['done'] }, 'webhook.events[0]'],
    [{ secret: 'whsec_short' }, 'webhook.secret'],
    [{ secret: 'env:PATH' }, 'webhook.secret'],
    [{ uri: URL }, 'webhook.uri'],
    [[URL], 'webhook'],
  ])('who states %j is told what is wrong with %s, and nothing is stored', async (webhook, name) => {
    const { status, body } = await change(webhook);
    expect([status, body.field]).toEqual([400, name]);
    expect(held()).toBe(undefined);
  });
});

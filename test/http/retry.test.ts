import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { closeConnection, openConnection, untilReady } from '../../src/redis/connection.js';
import { configSettings } from '../../src/shaping/config-settings.js';
import { RedisShaping } from '../../src/shaping/redis-shaping.js';
import { typeSettings } from '../../src/shaping/settings.js';
import { WorkSource } from '../../src/shaping/work-source.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { as, problemIn, testApp } from './support/test-app.js';
import { type KEYS, testConfig } from './support/test-config.js';

let server: TestRedis;
let redis: ReturnType<typeof openConnection>;
let app: FastifyInstance;
let work: WorkSource;

beforeAll(async () => {
  server = await startRedis();
  redis = openConnection({ socketPath: server.socketPath }, { name: 'test', deadlineMs: 2000 });
  await untilReady(redis);
  const settings = configSettings(await testConfig());
  ({ app } = await testApp({ shaping: new RedisShaping(redis, settings) }));
  work = new WorkSource(redis, 'chat', typeSettings(settings, 'chat'), { worker: 'w', lockMs: 30_000 });
});
beforeEach(() => server.flush());
afterAll(async () => {
  await app.close();
  closeConnection(redis);
  await server.stop();
});

type Key = keyof typeof KEYS;

const postAs = (key: Key, job: object, headers: Record<string, string> = {}) =>
  app.inject(as(key, { method: 'POST', url: '/v1/jobs', headers, payload: { type: 'chat', data: {}, ...job } }));

/** Posts a job, and lets it fail as a worker would, once its rate lets it start. */
async function failedJob(key: Key = 'small'): Promise<string> {
  const { id } = (await postAs(key, {})).json();
  const token = randomUUID();
  await expect.poll(async () => (await work.dispatch(token)).kind).toBe('job');
  await work.settle({ token, tenant: key, id }, { kind: 'failed', value: 'no good' });
  return id;
}

const retry = (id: string, key: Key = 'small', query = '') =>
  app.inject(as(key, { method: 'POST', url: `/v1/jobs/${id}/retry${query}` }));
const retryAll = (query: string, key: Key = 'small') =>
  app.inject(as(key, { method: 'POST', url: `/v1/jobs/retry?${query}` }));
const read = async (id: string) => (await app.inject(as('small', { url: `/v1/jobs/${id}` }))).json();

describe('POST /v1/jobs/:id/retry', () => {
  test('lets a failed job wait again, with a promise and no attempt used', async () => {
    const id = await failedJob();
    expect(await read(id)).toMatchObject({ state: 'failed', error: 'no good', attempts: 1 });
    const response = await retry(id);
    expect(response.statusCode).toBe(202);
    expect(response.headers.location).toBe(`/v1/jobs/${id}`);
    expect(response.json()).toMatchObject({ id, state: 'waiting', position: 1, attempts: 0, endedAt: null });
    expect(response.json()).not.toHaveProperty('error');
  });

  test('is refused with 409 while the job has not failed', async () => {
    const id = await failedJob();
    await retry(id);
    expect(problemIn(await retry(id))).toMatchObject({ status: 409, code: 'not_failed' });
    await app.inject(as('small', { method: 'DELETE', url: `/v1/jobs/${id}` }));
    expect(problemIn(await retry(id))).toMatchObject({ status: 409, code: 'not_failed' });
  });

  test('is refused with 429 while the bucket has no room, and says when it has', async () => {
    const id = await failedJob();
    await postAs('small', {});
    await postAs('small', {});
    const response = await retry(id);
    expect(problemIn(response)).toMatchObject({ status: 429, code: 'bucket_full' });
    expect(response.json().retryAfterMs).toBeGreaterThan(0);
    expect((await read(id)).state).toBe('failed');
  });

  test('finds no job of another tenant, and one of any tenant that an admin names', async () => {
    const id = await failedJob();
    expect(problemIn(await retry(id, 'acme'))).toMatchObject({ status: 404, code: 'job_not_found' });
    expect(problemIn(await retry(id, 'acme', '?tenant=small'))).toMatchObject({
      status: 403,
      code: 'tenant_forbidden',
    });
    expect(problemIn(await retry(id, 'admin'))).toMatchObject({ status: 400, field: 'tenant' });
    expect((await retry(id, 'admin', '?tenant=small')).statusCode).toBe(202);
  });

  test.each(['nope', '01m8mhdsxz7tyk8075rm2fdjy9.chat.0', '01m8mhdsxz7tyk8075rm2fdjy9.gone.0', '__proto__'])(
    'answers 404 for the id %s',
    async (id) => {
      expect(problemIn(await retry(id))).toMatchObject({ status: 404, code: 'job_not_found' });
    },
  );

  test('takes no body', async () => {
    const url = `/v1/jobs/${await failedJob()}/retry`;
    const response = await app.inject(as('small', { method: 'POST', url, payload: { attempts: 3 } }));
    expect(problemIn(response)).toMatchObject({ status: 400 });
  });
});

describe('POST /v1/jobs/retry', () => {
  test('lets all failed jobs of a type wait again, the first to fail first', async () => {
    const ids = [await failedJob('acme'), await failedJob('acme'), await failedJob('acme')];
    const first = await retryAll('type=chat&state=failed&limit=2', 'acme');
    expect(first.statusCode).toBe(200);
    expect(first.json()).toMatchObject({ retried: 2, full: false, cursor: expect.any(String) });
    const second = await retryAll(`type=chat&state=failed&cursor=${encodeURIComponent(first.json().cursor)}`, 'acme');
    expect(second.json()).toEqual({ retried: 1, full: false });
    const waiting = await app.inject(as('acme', { url: '/v1/jobs?type=chat&state=waiting' }));
    expect(waiting.json().jobs.map(({ id }: { id: string }) => id)).toEqual(ids);
  });

  test('takes as many as there is room for, and goes on from there', async () => {
    for (let n = 0; n < 3; n += 1) await failedJob();
    const first = (await retryAll('type=chat&state=failed')).json();
    expect(first).toMatchObject({ retried: 2, full: true });
    const query = `type=chat&state=failed&cursor=${encodeURIComponent(first.cursor)}`;
    expect(problemIn(await retryAll(query))).toMatchObject({ status: 429, code: 'bucket_full' });
    const [waiting] = (await app.inject(as('small', { url: '/v1/jobs?type=chat&state=waiting' }))).json().jobs;
    await app.inject(as('small', { method: 'DELETE', url: `/v1/jobs/${waiting.id}` }));
    expect((await retryAll(query)).json()).toEqual({ retried: 1, full: false });
  });

  test('touches only what failed, of one tenant', async () => {
    const other = await failedJob('acme');
    expect((await retryAll('type=chat&state=failed')).json()).toEqual({ retried: 0, full: false });
    expect((await retryAll('type=chat&state=failed&tenant=acme', 'admin')).json()).toEqual({ retried: 1, full: false });
    expect((await app.inject(as('acme', { url: `/v1/jobs/${other}` }))).json().state).toBe('waiting');
  });

  test.each([
    ['state=failed', { status: 400, field: 'type' }],
    ['type=chat', { status: 400, field: 'state' }],
    ['type=chat&state=cancelled', { status: 400, field: 'state' }],
    ['type=chat&state=failed&limit=1001', { status: 400, field: 'limit' }],
    ['type=chat&state=failed&cursor=x', { status: 400, field: 'cursor' }],
    ['type=none&state=failed', { status: 400, code: 'unknown_type' }],
    ['type=ocr&state=failed', { status: 403, code: 'type_forbidden' }],
    ['type=chat&state=failed&tenant=acme', { status: 403, code: 'tenant_forbidden' }],
  ])('refuses %s', async (query, problem) => {
    expect(problemIn(await retryAll(query))).toMatchObject(problem);
  });
});

describe('a job that says how it is to be retried', () => {
  test('is stored with that', async () => {
    const { id } = (await postAs('acme', { attempts: 2, backoff: { type: 'fixed', delayMs: 60_000 } })).json();
    expect(JSON.parse((await redis.hget(`${work.tag}:q:acme:${id}`, 'opts')) ?? '')).toMatchObject({
      attempts: 2,
      backoff: { type: 'fixed', delay: 60_000 },
    });
  });

  test.each([
    [{ attempts: 4 }, 'attempts', /at most 3 for this type; got 4/],
    [{ attempts: 0 }, 'attempts', /from 1/],
    [{ attempts: 1.5 }, 'attempts', /integer/],
    [{ backoff: { type: 'fixed', delayMs: 60_001 } }, 'backoff.delayMs', /at most 60000 ms for this type/],
    [{ backoff: { type: 'fixed', delayMs: -1 } }, 'backoff.delayMs', /integer of milliseconds/],
    [{ backoff: { type: 'linear', delayMs: 1 } }, 'backoff.type', /`fixed` or `exponential`/],
    [{ backoff: { delayMs: 1 } }, 'backoff.type', /required/],
    [{ backoff: { type: 'fixed', delayMs: 1, maxMs: 5 } }, 'backoff.maxMs', /maxMs/],
    [{ backoff: 5 }, 'backoff', /an object/],
  ])('cannot say %j', async (fields, field, detail) => {
    const response = await postAs('acme', fields);
    expect(problemIn(response)).toMatchObject({ status: 400, field });
    expect(response.json().detail).toMatch(detail);
  });

  test('is another job under the same idempotency key', async () => {
    const keyed = (fields: object) => postAs('acme', fields, { 'idempotency-key': 'k' });
    await keyed({ attempts: 2 });
    expect((await keyed({ attempts: 2 })).headers['idempotent-replayed']).toBe('true');
    expect(problemIn(await keyed({}))).toMatchObject({ code: 'idempotency_mismatch' });
  });
});

import { afterEach, expect, test } from 'vitest';
import { HeadgateClient, HeadgateError } from '../../src/client/index.js';
import { hangUp, json, problem, type ScriptedAnswer, type ScriptedServer, scriptedServer, silence } from './support.js';

const ACCEPTED = { id: 'a.chat.0', type: 'chat', tenant: 'acme', state: 'waiting' };
const JOB = { type: 'chat', data: { text: 'hello' } };
const servers: ScriptedServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function against(answers: readonly ScriptedAnswer[], options: object = {}) {
  const server = await scriptedServer(...answers);
  servers.push(server);
  return { server, client: new HeadgateClient({ url: server.url, key: 'a-key', ...options }) };
}

const errorFrom = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error) => error,
  );

test('a job is sent again under one idempotency key until it is taken: after 429, 503, and when nobody answered', async () => {
  const { server, client } = await against([
    problem(429, 'bucket_full', { retryAfterMs: 30 }),
    problem(503, 'redis_unavailable', { retryAfterMs: 20 }),
    hangUp,
    json(202, ACCEPTED, { 'idempotent-replayed': 'true' }),
  ]);
  expect(await client.submit(JOB)).toEqual({ ...ACCEPTED, replayed: true });
  expect(server.arrivals.map(({ method, url, headers, body }) => [method, url, headers.authorization, body])).toEqual(
    Array(4).fill(['POST', '/v1/jobs', 'Bearer a-key', JSON.stringify(JOB)]),
  );
  const keys = new Set(server.arrivals.map(({ headers }) => headers['idempotency-key']));
  expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
});

test('every call has an idempotency key of its own, or the one that it is given', async () => {
  const { server, client } = await against([json(202, ACCEPTED)]);
  await client.submit(JOB);
  await client.submit(JOB);
  await client.submit(JOB, { idempotencyKey: 'order-7' });
  const [first, second, third] = server.arrivals.map(({ headers }) => headers['idempotency-key']);
  expect(first).not.toBe(second);
  expect(third).toBe('order-7');
});

test.each([
  ['the document says', problem(429, 'bucket_full', { retryAfterMs: 300 })],
  ['the header of a proxy says', json(503, 'busy', { 'retry-after': '1' })],
])('nobody comes back before %s', async (_, refusal) => {
  const { server, client } = await against([refusal, json(202, ACCEPTED)]);
  await client.submit(JOB);
  const [first, second] = server.arrivals.map(({ atMs }) => atMs);
  expect(Number(second) - Number(first)).toBeGreaterThanOrEqual(300);
});

test.each([
  [400, 'invalid_field', { field: 'priority' }],
  [401, 'invalid_key', {}],
  [409, 'deadline_unreachable', {}],
  [422, 'idempotency_mismatch', {}],
  [500, 'internal_error', {}],
])('%i %s is thrown at once, with all that it says', async (status, code, more) => {
  const { server, client } = await against([problem(status, code, more)]);
  const error = await errorFrom(client.submit(JOB));
  expect(error).toBeInstanceOf(HeadgateError);
  expect(error).toMatchObject({ status, code, message: `is ${code}`, ...more, problem: { title: code } });
  expect(server.arrivals).toHaveLength(1);
});

test('the last refusal is thrown when a request was repeated as often as it may be', async () => {
  const { server, client } = await against([problem(429, 'rate_limited', { retryAfterMs: 1 })], { maxRetries: 2 });
  expect(await errorFrom(client.submit(JOB))).toMatchObject({ code: 'rate_limited', retryAfterMs: 1 });
  expect(server.arrivals).toHaveLength(3);
});

test('a wait that is too long, or goes beyond the deadline, is not begun: the refusal is thrown', async () => {
  const { server, client } = await against([problem(429, 'bucket_full', { retryAfterMs: 50_000 })], {
    maxRetryAfterMs: 40_000,
  });
  expect(await errorFrom(client.submit(JOB))).toMatchObject({ code: 'bucket_full', retryAfterMs: 50_000 });
  const patient = new HeadgateClient({ url: server.url, key: 'a-key' });
  expect(await errorFrom(patient.submit(JOB, { deadlineMs: 10_000 }))).toMatchObject({ code: 'bucket_full' });
  expect(server.arrivals).toHaveLength(2);
});

test('a call ends at its deadline, and when its caller says so', async () => {
  const { client } = await against([silence]);
  expect(await errorFrom(client.submit(JOB, { deadlineMs: 50 }))).toMatchObject({
    code: 'deadline_exceeded',
    status: 0,
  });
  const leaving = new AbortController();
  const call = errorFrom(client.submit(JOB, { signal: leaving.signal }));
  leaving.abort(new Error('enough'));
  expect(await call).toMatchObject({ message: 'enough' });
});

test('a request that is not answered in time counts as not answered', async () => {
  const { server, client } = await against([silence, json(202, ACCEPTED)], { requestTimeoutMs: 50 });
  await client.submit(JOB);
  expect(server.arrivals).toHaveLength(2);
});

test('an error of something else says so; one without an answer says why', async () => {
  const { server, client } = await against([(response) => response.writeHead(404).end('<h1>nginx</h1>')], {
    maxRetries: 0,
  });
  expect(await errorFrom(client.submit(JOB))).toMatchObject({ code: 'unexpected_answer', status: 404 });
  await servers.pop()?.close();
  const error = await errorFrom(client.submit(JOB));
  expect(error).toMatchObject({ code: 'network_error', status: 0, message: expect.stringContaining('ECONNREFUSED') });
  expect(server.arrivals).toHaveLength(1);
});

test('a path before /v1 is kept, and an admin’s client names its tenant everywhere', async () => {
  const { server, client } = await against([json(200, ACCEPTED)], { tenant: 'acme' });
  const behind = new HeadgateClient({ url: `${server.url}/queue/`, key: 'a-key' });
  await behind.job('a/b');
  await client.submit(JOB);
  await client.cancel('x', { tenant: 'other' });
  await client.jobs({ type: 'chat', state: 'failed', limit: 3 });
  expect(server.arrivals.map(({ url }) => url)).toEqual([
    '/queue/v1/jobs/a%2Fb',
    '/v1/jobs',
    '/v1/jobs/x?tenant=other',
    '/v1/jobs?type=chat&state=failed&limit=3&tenant=acme',
  ]);
  expect(server.arrivals[1]?.body).toBe(JSON.stringify({ ...JOB, tenant: 'acme' }));
});

test('waiting asks again until the job has ended, and not in a rush where it is answered at once', async () => {
  const active = json(200, { ...ACCEPTED, state: 'active' });
  const { server, client } = await against([
    json(202, ACCEPTED),
    active,
    json(200, { ...ACCEPTED, state: 'completed', result: 7 }),
  ]);
  expect(await client.run<number>(JOB)).toMatchObject({ state: 'completed', result: 7 });
  const [post, first, second] = server.arrivals;
  expect([post?.method, first?.url, second?.url]).toEqual(['POST', '/v1/jobs/a.chat.0', '/v1/jobs/a.chat.0']);
  expect(server.arrivals.map(({ headers }) => headers.prefer)).toEqual(Array(3).fill('wait=60'));
  expect(Number(second?.atMs) - Number(first?.atMs)).toBeGreaterThanOrEqual(950);
});

test('who has waited as long as he would is told which job he waited for', async () => {
  const { server, client } = await against([json(202, ACCEPTED)]);
  expect(await errorFrom(client.run(JOB, { deadlineMs: 1500 }))).toMatchObject({
    code: 'deadline_exceeded',
    jobId: 'a.chat.0',
  });
  expect(server.arrivals[0]?.headers.prefer).toBe('wait=1');
});

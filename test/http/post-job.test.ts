import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { doorOf } from '../../src/http/door.js';
import type { Admission, NewJob, Rejection } from '../../src/model/verdict.js';
import { RedisUnavailable } from '../../src/redis/outage.js';
import { type Admit, admitAll, admitted, type Script, scriptedShaping } from './support/scripted-shaping.js';
import { as, post, problemIn, type TestApp, testApp } from './support/test-app.js';
import { configFrom } from './support/test-config.js';

/** An app whose door answers each job with `verdict`. */
async function answering(verdict: (job: NewJob) => Admission, room = { depth: 50, freePlaces: 7 }) {
  const script: Script = { admit: async (_type, _tenant, jobs) => ({ admissions: jobs.map(verdict), ...room }) };
  return (await testApp({ shaping: scriptedShaping(script).shaping })).app;
}

describe('a job that is let in', () => {
  let served: TestApp;
  let admits: Admit[];
  beforeAll(async () => {
    const scripted = scriptedShaping();
    admits = scripted.admits;
    served = await testApp({ shaping: scripted.shaping });
  });
  afterAll(() => served.app.close());

  test('is answered 202 with its place, its promised start and where to read it', async () => {
    const response = await served.app.inject(post({ type: 'ocr', data: { pages: 3 } }));
    expect(response.statusCode).toBe(202);
    const body = response.json();
    expect(body).toEqual({
      id: body.id,
      type: 'ocr',
      tenant: 'acme',
      state: 'waiting',
      position: 1,
      releaseAt: '2026-12-01T00:00:02.000Z',
      waitMs: 2000,
      basis: 'rate',
      releaseBetween: null,
    });
    expect(response.headers.location).toBe(`/v1/jobs/${body.id}`);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  test('tells the depth of its bucket and the free places in every header people look at', async () => {
    const { headers } = await served.app.inject(post({ type: 'chat', data: {} }));
    expect(headers).toMatchObject({
      'ratelimit-policy': '"depth";q=50',
      ratelimit: '"depth";r=49',
      'x-ratelimit-limit': '50',
      'x-ratelimit-remaining': '49',
    });
  });

  test('comes to the door with every field that was posted, its cost by the rule of its type', async () => {
    const fields = { priority: 9, delayMs: 5000, startBy: '2026-12-01T00:00:00.5+01:00' };
    const headers = { 'idempotency-key': 'k~1', 'x-request-id': 'r-1' };
    await served.app.inject(post({ type: 'ocr', data: { pages: 7 }, ...fields }, headers));
    const { type, tenant, jobs } = admits.at(-1) ?? {};
    expect({ type, tenant }).toEqual({ type: 'ocr', tenant: 'acme' });
    expect(jobs).toEqual([
      {
        id: expect.stringMatching(/\.ocr\.0$/),
        data: '{"pages":7}',
        priority: 9,
        delayMs: 5000,
        startByMs: Date.UTC(2026, 10, 30, 23, 0, 0, 500),
        cost: 7,
        idempotencyKey: 'k~1',
        requestId: 'r-1',
      },
    ]);
  });

  test('has priority 4 and no delay, deadline or key unless it says so', async () => {
    const response = await served.app.inject(post({ type: 'chat', data: {} }));
    const requestId = response.headers['x-request-id'];
    const id = expect.any(String);
    expect(admits.at(-1)?.jobs).toEqual([{ id, data: '{}', priority: 4, delayMs: 0, cost: 1, requestId }]);
  });

  test('may be delayed by ten years, which is beyond what 32 bits of milliseconds hold', async () => {
    const response = await served.app.inject(post({ type: 'chat', data: {}, delayMs: 315_576_000_000 }));
    expect(response.statusCode).toBe(202);
    expect(admits.at(-1)?.jobs[0]?.delayMs).toBe(315_576_000_000);
  });

  test('keeps payload members of any name, and they stay members', async () => {
    const data = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"":1}';
    const response = await served.app.inject(post(`{"type":"chat","data":${data}}`));
    expect(response.statusCode).toBe(202);
    expect(admits.at(-1)?.jobs[0]?.data).toBe(data);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  test('may be posted by an admin for a tenant that the file does not name', async () => {
    const payload = { type: 'chat', data: {}, tenant: '__proto__' };
    const response = await served.app.inject(as('admin', { method: 'POST', url: '/v1/jobs', payload }));
    expect(response.statusCode).toBe(202);
    expect(admits.at(-1)?.tenant).toBe('__proto__');
  });

  test('takes its cost from the request where the type says so, and its default where the request does not', async () => {
    await served.app.inject(post({ type: 'llm', data: {}, cost: 42 }));
    expect(admits.at(-1)?.jobs[0]?.cost).toBe(42);
    await served.app.inject(post({ type: 'llm', data: {} }));
    expect(admits.at(-1)?.jobs[0]?.cost).toBe(10);
  });

  test('takes its cost from the payload, and the type’s default where the field is missing', async () => {
    await served.app.inject(post({ type: 'ocr', data: { pages: 9 } }));
    expect(admits.at(-1)?.jobs[0]?.cost).toBe(9);
    expect((await served.app.inject(post({ type: 'ocr', data: {} }))).statusCode).toBe(202);
    expect(admits.at(-1)?.jobs[0]?.cost).toBe(1);
  });
});

test('a replay is answered 202 with the same job, and says that it is one', async () => {
  const app = await answering(({ id }) => ({ ...admitted(id, 3), id: 'first', replayed: true }));
  const response = await app.inject(post({ type: 'chat', data: {} }, { 'idempotency-key': 'k' }));
  expect(response.statusCode).toBe(202);
  expect(response.headers).toMatchObject({ location: '/v1/jobs/first', 'idempotent-replayed': 'true' });
  expect(response.json()).toMatchObject({ id: 'first', position: 3 });
});

test('a replay of a job that has ended promises nothing any more', async () => {
  const app = await answering(({ id }) => ({
    verdict: 'admitted',
    id,
    replayed: true,
    state: 'failed',
    promise: null,
  }));
  const response = await app.inject(post({ type: 'chat', data: {} }, { 'idempotency-key': 'k' }));
  const nothing = { position: null, releaseAt: null, waitMs: null, basis: null, releaseBetween: null };
  expect(response.json()).toMatchObject({ state: 'failed', ...nothing });
});

test('an instant past the year 9999 and one that never comes are answered without a failure', async () => {
  const promise = { position: 1, releaseAtMs: 9e15, waitMs: 1.5, basis: 'rate', releaseBetweenMs: null } as const;
  const far = await answering(({ id }) => ({ ...admitted(id, 1), promise }));
  const { releaseAt, waitMs } = (await far.inject(post({ type: 'chat', data: {} }))).json();
  expect({ releaseAt, waitMs }).toEqual({ releaseAt: '9999-12-31T23:59:59.999Z', waitMs: 2 });
  const endless = { ...promise, releaseAtMs: Infinity, waitMs: Infinity };
  const never = await answering(({ id }) => ({ ...admitted(id, 1), promise: endless }));
  expect((await never.inject(post({ type: 'chat', data: {} }))).json()).toMatchObject({
    releaseAt: null,
    waitMs: null,
  });
});

describe('a job that is turned away', () => {
  const rejections: [Rejection, number, object, string | undefined][] = [
    [
      { verdict: 'rejected', reason: 'bucket_full', limit: 'depth', retryAfterMs: 1000.2 },
      429,
      { code: 'bucket_full', retryAfterMs: 1001 },
      '2',
    ],
    [
      { verdict: 'rejected', reason: 'bucket_full', limit: 'maxBytes', retryAfterMs: 3000 },
      429,
      { code: 'bucket_full', retryAfterMs: 3000, detail: expect.stringContaining('bytes') },
      '3',
    ],
    [
      { verdict: 'rejected', reason: 'bucket_full', limit: 'depth', retryAfterMs: null },
      429,
      { code: 'bucket_full', retryAfterMs: null },
      undefined,
    ],
    [
      { verdict: 'rejected', reason: 'wait_too_long', waitMs: 61_000, retryAfterMs: 999.999 },
      429,
      { code: 'wait_too_long', retryAfterMs: 1000 },
      '1',
    ],
    [
      { verdict: 'rejected', reason: 'deadline_unreachable', earliestStartAtMs: Date.UTC(2030, 0, 1) + 0.5 },
      409,
      { code: 'deadline_unreachable', field: 'startBy', earliestStartAt: '2030-01-01T00:00:00.001Z' },
      undefined,
    ],
    [{ verdict: 'rejected', reason: 'deadline_past' }, 400, { code: 'deadline_past', field: 'startBy' }, undefined],
    [
      { verdict: 'rejected', reason: 'idempotency_mismatch' },
      422,
      { code: 'idempotency_mismatch', field: 'Idempotency-Key' },
      undefined,
    ],
  ];

  test.each(rejections)('for %o is answered %i with %o', async (rejection, status, document, retryAfter) => {
    const app = await answering(() => rejection);
    const response = await app.inject(post({ type: 'chat', data: {} }));
    expect(response.statusCode).toBe(status);
    const problem = problemIn(response);
    expect(problem).toMatchObject({ ...document, status, type: `urn:headgate:problem:${problem.code}` });
    expect(response.headers['retry-after']).toBe(retryAfter);
  });

  test('because its bucket is full learns in RateLimit when there is one place more', async () => {
    const full: Rejection = { verdict: 'rejected', reason: 'bucket_full', limit: 'depth', retryAfterMs: 1200 };
    const app = await answering(() => full, { depth: 50, freePlaces: 0 });
    const { headers } = await app.inject(post({ type: 'chat', data: {} }));
    expect(headers).toMatchObject({ ratelimit: '"depth";r=0;t=2', 'x-ratelimit-remaining': '0' });
  });

  test('while Redis is away is answered 503 with a time to come back, and the id to ask for', async () => {
    const scripted = scriptedShaping({
      admit: async () => {
        throw new RedisUnavailable('away');
      },
    });
    const { app, logged } = await testApp({ shaping: scripted.shaping, random: () => 0.9999 });
    const response = await app.inject(post({ type: 'chat', data: {} }));
    expect(response.statusCode).toBe(503);
    expect(problemIn(response)).toMatchObject({
      code: 'redis_unavailable',
      retryAfterMs: 4999,
      id: scripted.admits[0]?.jobs[0]?.id,
    });
    expect(response.headers['retry-after']).toBe('5');
    expect(logged).toContainEqual(expect.objectContaining({ msg: 'a request failed' }));
  });
});

test('no RateLimit header is sent where a number has no end', async () => {
  const endless = { depth: Infinity, freePlaces: Infinity };
  const app = await answering(({ id }) => admitted(id, 1), endless);
  const { headers } = await app.inject(post({ type: 'chat', data: {} }));
  expect(Object.keys(headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
});

test('a fault of the service is answered 500 without its innards, which are logged', async () => {
  const { shaping } = scriptedShaping({ admit: async () => ({ ...admitAll([]), admissions: [] }) });
  const { app, logged } = await testApp({ shaping });
  const response = await app.inject(post({ type: 'chat', data: {} }));
  expect(response.statusCode).toBe(500);
  expect(problemIn(response)).toMatchObject({ code: 'internal_error' });
  expect(response.body).not.toContain('no verdict');
  expect(logged).toContainEqual(
    expect.objectContaining({
      level: 50,
      err: expect.objectContaining({ message: expect.stringContaining('no verdict') }),
    }),
  );
});

describe('a payload field that the type takes the cost from, and has no default for', () => {
  let served: TestApp;
  let admits: Admit[];
  beforeAll(async () => {
    const scripted = scriptedShaping();
    admits = scripted.admits;
    const config = await configFrom('types: { scan: { cost: { from: data.pages, min: 1, max: 500 } } }');
    served = await testApp({ shaping: scripted.shaping, door: doorOf(config) });
  });
  afterAll(() => served.app.close());

  test.each<[string, object, string]>([
    ['missing', {}, 'got nothing'],
    ['a text', { pages: '3' }, 'got '],
    ['null', { pages: null }, 'got '],
    ['a list', { pages: [3] }, 'got '],
  ])('%s is answered 400 with its place, and nothing is stored', async (_, data, told) => {
    const problem = problemIn(await served.app.inject(post({ type: 'scan', data })));
    expect(problem).toMatchObject({ status: 400, code: 'invalid_field', field: 'data.pages' });
    expect(problem.detail).toContain(told);
    const jobs = [
      { type: 'scan', data: { pages: 1 } },
      { type: 'scan', data },
    ];
    const batch = as('acme', { method: 'POST', url: '/v1/jobs/batch', payload: { jobs } });
    expect(problemIn(await served.app.inject(batch))).toMatchObject({ status: 400, field: 'jobs[1].data.pages' });
    expect(admits).toEqual([]);
  });

  test('there is the cost', async () => {
    expect((await served.app.inject(post({ type: 'scan', data: { pages: 3 } }))).statusCode).toBe(202);
    expect(admits.at(-1)?.jobs[0]?.cost).toBe(3);
  });
});

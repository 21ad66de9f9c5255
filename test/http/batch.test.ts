import { describe, expect, test } from 'vitest';
import type { Admission, NewJob } from '../../src/model/verdict.js';
import { RedisFull, RedisUnavailable } from '../../src/redis/outage.js';
import { admitted, type Script, scriptedShaping } from './support/scripted-shaping.js';
import { as, problemIn, testApp } from './support/test-app.js';

async function batch(payload: unknown, script: Script = {}, key: 'acme' | 'admin' | 'small' = 'acme', headers = {}) {
  const { shaping, admits } = scriptedShaping(script);
  const { app } = await testApp({ shaping });
  const body = JSON.stringify(payload);
  const content = { 'content-type': 'application/json', ...headers };
  const request = as(key, { method: 'POST', url: '/v1/jobs/batch', payload: body, headers: content });
  return { response: await app.inject(request), admits };
}

const chat = (data: object = {}) => ({ type: 'chat', data });

test('every item gets a verdict, in the order of the items, though each bucket is asked once', async () => {
  const jobs = [chat(), { type: 'ocr', data: { pages: 2 } }, chat({ n: 2 }), { type: 'ocr', data: { pages: 4 } }];
  const { response, admits } = await batch({ jobs });
  expect(response.statusCode).toBe(200);
  const answer = response.json();
  expect(answer).toMatchObject({ admitted: 4, rejected: 0 });
  expect(answer.jobs.map((job: { type: string; position: number }) => [job.type, job.position])).toEqual([
    ['chat', 1],
    ['ocr', 1],
    ['chat', 2],
    ['ocr', 2],
  ]);
  expect(admits.map(({ type, jobs: admittedJobs }) => [type, admittedJobs.map(({ data }) => data)])).toEqual([
    ['chat', ['{}', '{"n":2}']],
    ['ocr', ['{"pages":2}', '{"pages":4}']],
  ]);
});

test('a bucket takes a prefix of its items, and the rest are told when to come back', async () => {
  const full: Admission = { verdict: 'rejected', reason: 'bucket_full', limit: 'depth', retryAfterMs: 1500 };
  const admit = async (_type: string, _tenant: string, jobs: readonly NewJob[]) => ({
    admissions: jobs.map(({ id }, index) => (index < 2 ? admitted(id, index + 1) : full)),
    depth: 2,
    freePlaces: 0,
  });
  const { response } = await batch({ jobs: [chat(), chat(), chat()] }, { admit });
  const { admitted: count, rejected, jobs } = response.json();
  expect({ count, rejected }).toEqual({ count: 2, rejected: 1 });
  expect(jobs[1]).toMatchObject({ verdict: 'admitted', replayed: false, state: 'waiting', position: 2 });
  expect(jobs[2]).toEqual({
    verdict: 'rejected',
    problem: expect.objectContaining({ status: 429, code: 'bucket_full', retryAfterMs: 1500 }),
  });
  expect(response.headers.ratelimit).toBe('"depth";r=0');
});

test('a verdict about a field names the item', async () => {
  const past: Admission = { verdict: 'rejected', reason: 'deadline_past' };
  const admit: Script['admit'] = async (_type, _tenant, jobs) => ({
    admissions: jobs.map(({ id }, index) => (index === 1 ? past : admitted(id, 1))),
    depth: 9,
    freePlaces: 8,
  });
  const { response } = await batch({ jobs: [chat(), chat()] }, { admit });
  expect(response.json().jobs[1].problem).toMatchObject({
    status: 400,
    code: 'deadline_past',
    field: 'jobs[1].startBy',
  });
});

test('items carry idempotency keys of their own', async () => {
  const { admits } = await batch({
    jobs: [{ ...chat(), idempotencyKey: 'a' }, { ...chat(), idempotencyKey: 'b' }, chat()],
  });
  expect(admits[0]?.jobs.map(({ idempotencyKey }) => idempotencyKey)).toEqual(['a', 'b', undefined]);
});

test('an admin may name one tenant for all items, and another for some', async () => {
  const payload = { tenant: 'acme', jobs: [chat(), { ...chat(), tenant: 'small' }, chat()] };
  const { response, admits } = await batch(payload, {}, 'admin');
  expect(response.json().jobs.map(({ tenant }: { tenant: string }) => tenant)).toEqual(['acme', 'small', 'acme']);
  expect(admits.map(({ tenant, jobs }) => [tenant, jobs.length])).toEqual([
    ['acme', 2],
    ['small', 1],
  ]);
  expect(response.headers.ratelimit, 'two buckets have no one room').toBeUndefined();
});

test('a thousand items are one batch', async () => {
  const { response } = await batch({ jobs: Array.from({ length: 1000 }, () => chat()) });
  expect(response.json().admitted).toBe(1000);
});

describe('nothing is admitted when', () => {
  test.each([
    [{ jobs: [chat(), { type: 'chat' }] }, 'missing_field', 'jobs[1].data'],
    [{ jobs: [chat(), 5] }, 'invalid_field', 'jobs[1]'],
    [{ jobs: [chat(), null] }, 'invalid_field', 'jobs[1]'],
    [{ jobs: [chat(), { ...chat(), priority: '5' }] }, 'invalid_field', 'jobs[1].priority'],
    [{ jobs: [chat(), { ...chat(), startBy: 'soon' }] }, 'invalid_field', 'jobs[1].startBy'],
    [{ jobs: [chat(), { ...chat(), idempotencyKey: '' }] }, 'invalid_field', 'jobs[1].idempotencyKey'],
    [{ jobs: [chat(), { ...chat(), idempotencyKey: 'two words' }] }, 'invalid_field', 'jobs[1].idempotencyKey'],
    [{ jobs: [chat(), { ...chat(), idempotencykey: 'a' }] }, 'unknown_field', 'jobs[1].idempotencykey'],
    [{ jobs: [chat(), { type: 'nope', data: {} }] }, 'unknown_type', 'jobs[1].type'],
    [{ jobs: [{ type: 'ocr', data: { pages: '3' } }] }, 'invalid_field', 'jobs[0].data.pages'],
    [{ jobs: [{ ...chat(), cost: 4 }] }, 'invalid_field', 'jobs[0].cost'],
    [{ jobs: [] }, 'invalid_field', 'jobs'],
    [{ jobs: {} }, 'invalid_field', 'jobs'],
    [{ jobs: Array.from({ length: 1001 }, () => chat()) }, 'invalid_field', 'jobs'],
    [{}, 'missing_field', 'jobs'],
    [{ job: [chat()] }, 'missing_field', 'jobs'],
    [{ jobs: [chat()], tenants: 'acme' }, 'unknown_field', 'tenants'],
    [{ jobs: [chat()], tenant: '' }, 'invalid_field', 'tenant'],
    [[chat()], 'invalid_field', 'body'],
    [null, 'invalid_field', 'body'],
  ])('the body is %j', async (payload, code, field) => {
    const { response, admits } = await batch(payload);
    expect(problemIn(response)).toMatchObject({ status: 400, code, field });
    expect(admits).toEqual([]);
  });

  test.each([
    [{ jobs: [chat(), { type: 'ocr', data: { pages: 501 } }] }, 'acme', 422, 'cost_exceeds_max', 'jobs[1].data.pages'],
    [{ jobs: [chat(), { type: 'ocr', data: {} }] }, 'small', 403, 'type_forbidden', 'jobs[1].type'],
    [{ jobs: [chat(), { ...chat(), tenant: 'acme' }] }, 'small', 403, 'tenant_forbidden', 'jobs[1].tenant'],
    [
      { jobs: [chat(), { type: 'ocr', data: { 'odd name': 'x'.repeat(3000) } }] },
      'acme',
      413,
      'payload_too_large',
      'jobs[1].data',
    ],
  ] as const)('the request alone gives a reason to refuse an item: %#', async (payload, key, status, code, field) => {
    const { response, admits } = await batch(payload, {}, key);
    expect(problemIn(response)).toMatchObject({ status, code, field });
    expect(admits).toEqual([]);
  });

  test('it comes with an Idempotency-Key, which could only mean one job', async () => {
    const { response, admits } = await batch({ jobs: [chat()] }, {}, 'acme', { 'idempotency-key': 'k' });
    expect(problemIn(response)).toMatchObject({ status: 400, field: 'Idempotency-Key' });
    expect(admits).toEqual([]);
  });
});

describe('while Redis is away', () => {
  const away = async (): Promise<never> => {
    throw new RedisUnavailable('away');
  };

  test('the batch is answered 503, with the ids to ask for', async () => {
    const { response, admits } = await batch({ jobs: [chat(), { type: 'ocr', data: {} }] }, { admit: away });
    expect(response.statusCode).toBe(503);
    expect(response.headers['retry-after']).toBe('1');
    const ids = admits.flatMap(({ jobs }) => jobs.map(({ id }) => id));
    expect(problemIn(response)).toMatchObject({ code: 'redis_unavailable', ids });
  });

  test('from one bucket on, its items say so and the others stand', async () => {
    const admit: Script['admit'] = async (type, _tenant, jobs) =>
      type === 'ocr' ? away() : { admissions: jobs.map(({ id }) => admitted(id, 1)), depth: 9, freePlaces: 8 };
    const { response, admits } = await batch({ jobs: [{ type: 'ocr', data: {} }, chat()] }, { admit });
    const { jobs } = response.json();
    expect(response.statusCode).toBe(200);
    expect(jobs[0].problem).toMatchObject({ status: 503, code: 'redis_unavailable', id: admits[0]?.jobs[0]?.id });
    expect(jobs[1]).toMatchObject({ verdict: 'admitted' });
  });
});

test('items for which Redis had no room any more are told so, and the others have their verdicts', async () => {
  const admit: Script['admit'] = async (type, _tenant, jobs) => {
    if (type === 'llm') throw new RedisFull('full');
    return { admissions: jobs.slice(0, 1).map(({ id }) => admitted(id, 1)), depth: 9, freePlaces: 8 };
  };
  const { response } = await batch({ jobs: [chat(), chat(), { type: 'llm', data: {} }] }, { admit });
  const { admitted: count, rejected, jobs } = response.json();
  expect({ count, rejected }).toEqual({ count: 1, rejected: 2 });
  for (const job of jobs.slice(1)) {
    expect(job).toMatchObject({ verdict: 'rejected', problem: { status: 503, code: 'memory_full' } });
    expect(job.problem, 'it is certain that it is not there').not.toHaveProperty('id');
  }
});

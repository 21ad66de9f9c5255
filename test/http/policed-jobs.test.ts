import { describe, expect, test } from 'vitest';
import type { Admission, NewJob } from '../../src/model/verdict.js';
import type { PolicingRequest } from '../../src/policing/policing.js';
import { RedisUnavailable } from '../../src/redis/outage.js';
import { policedApp } from './support/policed-app.js';
import { CLOSED, LIMITED, OPEN, scriptedPolicing, TOO_DEAR, type Verdict } from './support/scripted-policing.js';
import { admitted, type Script, scriptedShaping } from './support/scripted-shaping.js';
import { as, post, problemIn } from './support/test-app.js';

async function appOn(verdict: Verdict | ((request: PolicingRequest) => Verdict) | undefined, script: Script = {}) {
  const { shaping, admits } = scriptedShaping(script);
  const scripted = scriptedPolicing(verdict);
  const { app } = await policedApp(scripted.policing, { shaping });
  return { app, admits, ...scripted };
}

const FULL: Admission = { verdict: 'rejected', reason: 'bucket_full', limit: 'depth', retryAfterMs: 1000 };
const MISMATCH: Admission = { verdict: 'rejected', reason: 'idempotency_mismatch' };

const away = async (): Promise<never> => {
  throw new RedisUnavailable('away');
};

/** A door that answers each job with `verdict`. */
function answering(verdict: (job: NewJob) => Admission): Script {
  return { admit: async (_type, _tenant, jobs) => ({ admissions: jobs.map(verdict), depth: 50, freePlaces: 7 }) };
}

describe('a job whose type has a policy', () => {
  test.each([
    [{ type: 'chat', data: {} }, 1],
    [{ type: 'ocr', data: { pages: 7 } }, 7],
    [{ type: 'llm', data: {}, cost: 2.5 }, 2.5],
  ])('%o is charged its own cost, in its tenant’s name', async (job, cost) => {
    const { app, asked, givenBack } = await appOn(undefined);
    const response = await app.inject(post(job));
    expect(response.statusCode).toBe(202);
    expect(response.headers.ratelimit, 'the room in the bucket').toMatch(/^"depth";/);
    expect(asked).toEqual([{ policy: 'api', caller: { tenant: 'acme', tier: 'pro' }, cost }]);
    expect(givenBack).toEqual([]);
  });

  test('is refused by it with 429 and its headers, before it comes to the bucket', async () => {
    const { app, admits, givenBack } = await appOn(LIMITED);
    const response = await app.inject(post({ type: 'chat', data: {} }));
    expect(problemIn(response)).toMatchObject({ status: 429, code: 'rate_limited', retryAfterMs: 1500, policy: 'api' });
    expect(response.headers).toMatchObject({
      'retry-after': '2',
      'ratelimit-policy': '"burst";q=100;w=50',
      ratelimit: '"burst";r=0;t=1',
    });
    expect(admits).toEqual([]);
    expect(givenBack).toEqual([]);
  });

  test.each([
    [{ type: 'chat', data: {} }, 'type'],
    [{ type: 'ocr', data: { pages: 500 } }, 'data.pages'],
    [{ type: 'llm', data: {}, cost: 500 }, 'cost'],
  ])('%o costs more than can ever pass: 422, with the field that says so', async (job, field) => {
    const { app, admits } = await appOn(TOO_DEAR);
    const response = await app.inject(post(job));
    expect(problemIn(response)).toMatchObject({ status: 422, code: 'cost_exceeds_max', field, max: 100 });
    expect(response.headers['retry-after']).toBeUndefined();
    expect(admits).toEqual([]);
  });

  test('is answered 503 where the policy is closed, and was stored nowhere', async () => {
    const { app, admits } = await appOn(CLOSED);
    const response = await app.inject(post({ type: 'chat', data: {} }));
    expect(problemIn(response)).toMatchObject({ status: 503, code: 'redis_unavailable', decidedBy: 'closed' });
    expect(response.json()).not.toHaveProperty('id');
    expect(response.headers['retry-after']).toBe('2');
    expect(admits).toEqual([]);
  });

  test('goes on to the bucket where the policy is open', async () => {
    const { app } = await appOn(OPEN);
    expect((await app.inject(post({ type: 'chat', data: {} }))).statusCode).toBe(202);
  });

  test.each<[string, Admission | 'replay', number]>([
    ['its bucket is full', FULL, 429],
    ['its idempotency key belongs to another', MISMATCH, 422],
    ['its startBy has passed', { verdict: 'rejected', reason: 'deadline_past' }, 400],
    ['it is there already', 'replay', 202],
  ])('has its charge given back when %s', async (_, verdict, status) => {
    const replay = ({ id }: NewJob): Admission => ({ ...admitted(id, 1), replayed: true });
    const { app, asked, givenBack } = await appOn(
      undefined,
      answering((job) => (verdict === 'replay' ? replay(job) : verdict)),
    );
    const response = await app.inject(post({ type: 'chat', data: {} }, { 'idempotency-key': 'k' }));
    expect(response.statusCode).toBe(status);
    expect(givenBack).toEqual(asked);
    expect(asked).toHaveLength(1);
  });

  test.each([
    ['whether it is there already is not known', LIMITED, 429, 1],
    ['it has no idempotency key', LIMITED, 429, 0],
    ['its policy is closed', CLOSED, 503, 0],
  ])('stays refused where %s', async (what, verdict, status, reads) => {
    let read = 0;
    const knows = async (): Promise<never> => {
      read += 1;
      return away();
    };
    const { app, admits } = await appOn(verdict, { knows });
    const headers = what.startsWith('it has no') ? {} : { 'idempotency-key': 'k' };
    expect((await app.inject(post({ type: 'chat', data: {} }, headers))).statusCode).toBe(status);
    expect(read).toBe(reads);
    expect(admits).toEqual([]);
  });

  test('keeps its charge when nobody knows whether it was stored', async () => {
    const { app, asked, givenBack } = await appOn(undefined, { admit: away });
    expect((await app.inject(post({ type: 'chat', data: {} }))).statusCode).toBe(503);
    expect(asked).toHaveLength(1);
    expect(givenBack).toEqual([]);
  });

  test.each([
    { type: 'chat', data: {}, startBy: 'soon' },
    { type: 'chat', data: {}, cost: 5 },
    { type: 'ocr', data: { pages: 501 } },
    { type: 'chat', data: {}, priority: 10 },
  ])('%o is refused for what stands in the request before its policy is asked', async (job) => {
    const { app, asked } = await appOn(LIMITED);
    expect((await app.inject(post(job))).statusCode).not.toBe(429);
    expect(asked).toEqual([]);
  });
});

test('a job whose type has no policy asks none', async () => {
  const { app, asked } = await appOn(LIMITED);
  expect((await app.inject(post({ type: 'free', data: {} }))).statusCode).toBe(202);
  expect(asked).toEqual([]);
});

describe('in a batch', () => {
  const batch = (jobs: readonly object[]) => as('acme', { method: 'POST', url: '/v1/jobs/batch', payload: { jobs } });
  const llm = (cost: number) => ({ type: 'llm', data: {}, cost });
  const upTo = (units: number) => (request: PolicingRequest) => (request.cost > units ? LIMITED : {});

  test('every item has its policy’s verdict, and only those that it lets pass come to the bucket', async () => {
    const { app, admits, asked } = await appOn(upTo(10));
    const response = await app.inject(batch([llm(1), llm(11), { type: 'free', data: {} }, llm(2)]));
    expect(response.statusCode).toBe(200);
    const { admitted: count, rejected, jobs } = response.json();
    expect({ count, rejected }).toEqual({ count: 3, rejected: 1 });
    expect(jobs.map(({ verdict }: { verdict: string }) => verdict)).toEqual([
      'admitted',
      'rejected',
      'admitted',
      'admitted',
    ]);
    expect(jobs[1].problem).toMatchObject({ status: 429, code: 'rate_limited', retryAfterMs: 1500, policy: 'api' });
    expect(asked.map(({ cost }) => cost)).toEqual([1, 11, 2]);
    expect(admits.map(({ type, jobs: sent }) => [type, sent.map(({ cost }) => cost)])).toEqual([
      ['llm', [1, 2]],
      ['free', [1]],
    ]);
  });

  test('a cost that can never pass names the item', async () => {
    const { app } = await appOn(TOO_DEAR);
    const { jobs } = (await app.inject(batch([llm(500)]))).json();
    expect(jobs[0].problem).toMatchObject({ status: 422, code: 'cost_exceeds_max', field: 'jobs[0].cost' });
  });

  test('what the bucket does not take is given back, and what it takes is not', async () => {
    const { app, givenBack } = await appOn(
      undefined,
      answering(({ id, cost }) => (cost > 2 ? FULL : { ...admitted(id, 1), replayed: cost > 1 })),
    );
    await app.inject(batch([llm(1), llm(2), llm(3), llm(4)]));
    expect(givenBack.map(({ cost }) => cost)).toEqual([2, 3, 4]);
  });

  test('nothing is given back of a bucket that did not answer', async () => {
    const { app, givenBack, admits } = await appOn(upTo(10), { admit: away });
    const response = await app.inject(batch([llm(1), llm(11), llm(2)]));
    expect(response.statusCode).toBe(200);
    const { jobs } = response.json();
    expect(jobs.map((job: { problem: { code: string } }) => job.problem.code)).toEqual([
      'redis_unavailable',
      'rate_limited',
      'redis_unavailable',
    ]);
    expect(jobs[0].problem.id).toBe(admits[0]?.jobs[0]?.id);
    expect(givenBack).toEqual([]);
  });

  test('a closed policy and an absent bucket are one outage: 503, and the ids that may have been stored', async () => {
    const closed = await appOn(CLOSED);
    const none = await closed.app.inject(batch([llm(1), llm(2)]));
    expect(problemIn(none)).toMatchObject({ status: 503, code: 'redis_unavailable' });
    expect(none.json()).not.toHaveProperty('ids');
    const half = await appOn(CLOSED, { admit: away });
    const some = await half.app.inject(batch([llm(1), { type: 'free', data: {} }]));
    expect(problemIn(some)).toMatchObject({ status: 503, ids: [half.admits[0]?.jobs[0]?.id] });
  });

  test('a thousand items are asked about in their order, some at a time', async () => {
    let underWay = 0;
    let most = 0;
    const { app, asked, policing } = await appOn(undefined);
    const { decide } = policing;
    policing.decide = async (request) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise(setImmediate);
      underWay -= 1;
      return decide(request);
    };
    const costs = Array.from({ length: 1000 }, (_, n) => n + 1);
    expect((await app.inject(batch(costs.map(llm)))).json().admitted).toBe(1000);
    expect(asked.map(({ cost }) => cost)).toEqual(costs);
    expect(most).toBeLessThanOrEqual(100);
  });

  test('nothing is asked of a policy when an item is malformed', async () => {
    const { app, asked } = await appOn(undefined);
    expect((await app.inject(batch([llm(1), llm(0)]))).statusCode).toBe(400);
    expect(asked).toEqual([]);
  });
});

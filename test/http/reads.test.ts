import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_PROFILE } from '../../src/model/profile.js';
import type { JobView } from '../../src/model/verdict.js';
import { RedisUnavailable } from '../../src/redis/outage.js';
import type { BucketView, JobFilter, TypeView } from '../../src/shaping/shaping.js';
import { type Script, scriptedShaping } from './support/scripted-shaping.js';
import { as, problemIn, type TestApp, testApp } from './support/test-app.js';

const TYPE: Omit<TypeView, 'type' | 'capacity'> = {
  backloggedBuckets: 3,
  readyBuckets: 1,
  running: 2,
  servedPerSecond: 1.5,
  meanRunMs: null,
  scarceForMs: null,
};

const VIEW: JobView = {
  id: 'j1',
  type: 'chat',
  tenant: 'acme',
  state: 'waiting',
  priority: 4,
  cost: 1,
  createdAtMs: Date.UTC(2026, 0, 1),
  startedAtMs: null,
  slipMs: null,
  endedAtMs: null,
  startByMs: null,
  promise: {
    position: 2,
    releaseAtMs: Date.UTC(2026, 0, 2),
    waitMs: 4000,
    basis: 'capacity',
    releaseBetweenMs: [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 3)],
    approximate: true,
  },
  attemptsMade: 0,
  cancelRequested: false,
  progress: { page: 3 },
};

const RESOURCE = {
  id: 'j1',
  type: 'chat',
  tenant: 'acme',
  state: 'waiting',
  position: 2,
  releaseAt: '2026-01-02T00:00:00.000Z',
  waitMs: 4000,
  basis: 'capacity',
  releaseBetween: ['2026-01-01T00:00:00.000Z', '2026-01-03T00:00:00.000Z'],
  approximate: true,
  priority: 4,
  cost: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  startedAt: null,
  slipMs: null,
  endedAt: null,
  startBy: null,
  attempts: 0,
  cancelRequested: false,
  progress: { page: 3 },
};

async function appWith(script: Script): Promise<TestApp['app']> {
  return (await testApp({ shaping: scriptedShaping(script).shaping })).app;
}

describe('GET /v1/jobs/:id', () => {
  test('tells where the job is and what was promised', async () => {
    const asked: unknown[] = [];
    const app = await appWith({
      job: async (...question) => {
        asked.push(question);
        return VIEW;
      },
    });
    const response = await app.inject(as('acme', { url: '/v1/jobs/j1' }));
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual(RESOURCE);
    expect(asked).toEqual([['acme', 'j1']]);
  });

  test('tells the result of a job that has completed, whatever it is, and the error of one that has not', async () => {
    const ended = { ...VIEW, startedAtMs: 1000, endedAtMs: 2000, promise: null };
    const completed = await appWith({ job: async () => ({ ...ended, state: 'completed', result: null }) });
    expect((await completed.inject(as('acme', { url: '/v1/jobs/j1' }))).json()).toMatchObject({
      result: null,
      position: null,
      startedAt: '1970-01-01T00:00:01.000Z',
    });
    const failed = await appWith({ job: async () => ({ ...ended, state: 'failed', error: 'boom' }) });
    const body = (await failed.inject(as('acme', { url: '/v1/jobs/j1' }))).json();
    expect(body).toMatchObject({ state: 'failed', error: 'boom' });
    expect(body).not.toHaveProperty('result');
  });

  test.each(['nope', 'x'.repeat(129), 'x'.repeat(5000), 'a%20b', '%F0%9F%98%80', '%00', '__proto__', '..%2f..'])(
    'answers 404 for the id %s',
    async (id) => {
      const app = await appWith({});
      const response = await app.inject(as('acme', { url: `/v1/jobs/${id}` }));
      expect(problemIn(response)).toMatchObject({ status: 404, code: 'job_not_found' });
    },
  );
});

describe('DELETE /v1/jobs/:id', () => {
  test.each([
    ['cancelled', 200, { id: 'j1', state: 'cancelled' }],
    ['cancel_requested', 202, { id: 'j1', state: 'active', cancelRequested: true }],
    ['already_ended', 409, { code: 'already_ended' }],
    ['not_found', 404, { code: 'job_not_found' }],
  ] as const)('answers %s with %i', async (cancellation, status, body) => {
    const app = await appWith({ cancel: async () => cancellation });
    const response = await app.inject(as('acme', { method: 'DELETE', url: '/v1/jobs/j1' }));
    expect(response.statusCode).toBe(status);
    expect(response.json()).toMatchObject(body);
  });

  test('takes no body, but does not mind a client that always names a media type', async () => {
    const app = await appWith({ cancel: async () => 'cancelled' });
    const headers = { 'content-type': 'application/json' };
    const without = await app.inject(as('acme', { method: 'DELETE', url: '/v1/jobs/j1', headers }));
    expect(without.statusCode).toBe(200);
    const payload = { tenant: 'acme' };
    const withBody = await app.inject(as('acme', { method: 'DELETE', url: '/v1/jobs/j1', payload }));
    expect(problemIn(withBody)).toMatchObject({ status: 400, code: 'invalid_field', field: 'body' });
  });
});

describe('GET /v1/jobs', () => {
  let app: TestApp['app'];
  const asked: JobFilter[] = [];
  beforeAll(async () => {
    app = await appWith({
      jobs: async (filter) => {
        asked.push(filter);
        return { jobs: [VIEW], cursor: '17~x.chat.0' };
      },
    });
  });
  afterAll(() => app.close());

  test('gives a page of jobs and the cursor of the next', async () => {
    const response = await app.inject(
      as('acme', { url: '/v1/jobs?type=chat&state=waiting&limit=7&cursor=5~y.chat.0' }),
    );
    expect(response.json()).toEqual({ jobs: [RESOURCE], cursor: '17~x.chat.0' });
    expect(asked.at(-1)).toEqual({ type: 'chat', tenant: 'acme', state: 'waiting', limit: 7, cursor: '5~y.chat.0' });
  });

  test('gives 50 from the first on unless asked otherwise, and decodes what is encoded', async () => {
    await app.inject(as('admin', { url: '/v1/jobs?tenant=a%20b+c%2Bd&type=chat&state=failed&' }));
    expect(asked.at(-1)).toEqual({ type: 'chat', tenant: 'a b c+d', state: 'failed', limit: 50 });
  });

  test.each([
    ['type=chat', 'missing_field', 'state'],
    ['state=waiting', 'missing_field', 'type'],
    ['type=chat&state=done', 'invalid_field', 'state'],
    ['type=chat&state=', 'invalid_field', 'state'],
    ['type=nope&state=waiting', 'unknown_type', 'type'],
    ['type=&state=waiting', 'invalid_field', 'type'],
    ['type=chat&state=waiting&stat=failed', 'unknown_field', 'stat'],
    ['type=chat&state=waiting&__proto__=1', 'unknown_field', '__proto__'],
    ['type=chat&state=waiting&=1', 'unknown_field', 'query'],
    ['type=chat&type=ocr&state=waiting', 'invalid_field', 'type'],
    ['type[]=chat&state=waiting', 'unknown_field', 'type[]'],
    ['type=chat&state=waiting&tenant=%ff', 'invalid_field', 'tenant'],
    ['type=chat&state=waiting&tenant=%zz', 'invalid_field', 'tenant'],
    ['%zz=1', 'invalid_field', 'query'],
    ...['0', '101', '-1', '1.5', '1e1', '0x10', '+5', '%205%20', '05', 'abc', 'NaN', 'Infinity', '1e400', ''].map(
      (limit): [string, string, string] => [`type=chat&state=waiting&limit=${limit}`, 'invalid_field', 'limit'],
    ),
    ...['', 'x', '~', 'abc~x', '1~', '1~a b', `1~${'x'.repeat(600)}`, '1.2.3~x', 'nan~x'].map(
      (cursor): [string, string, string] => [
        `type=chat&state=waiting&cursor=${encodeURIComponent(cursor)}`,
        'invalid_field',
        'cursor',
      ],
    ),
  ])('?%s is refused by name', async (query, code, field) => {
    const response = await app.inject(as('acme', { url: `/v1/jobs?${query}` }));
    expect(problemIn(response)).toMatchObject({ status: 400, code, field });
  });

  test('of a type that the tenant may not use is answered 403', async () => {
    const response = await app.inject(as('small', { url: '/v1/jobs?type=ocr&state=waiting' }));
    expect(problemIn(response)).toMatchObject({ status: 403, code: 'type_forbidden', field: 'type' });
  });
});

describe('GET /v1/types', () => {
  const capacity = { ratePerSecond: 20, burst: 20, concurrency: Infinity };
  const script: Script = { type: async (type) => ({ ...TYPE, type, capacity }) };

  test('gives a tenant the types that it may use, and what they demand', async () => {
    const app = await appWith(script);
    const forAcme = (await app.inject(as('acme', { url: '/v1/types' }))).json();
    expect(forAcme.types.map(({ type }: { type: string }) => type)).toEqual(['ocr', 'chat', 'llm']);
    expect(forAcme.types[0]).toEqual({
      type: 'ocr',
      maxPayloadBytes: 2048,
      cost: { kind: 'field', from: 'data.pages', min: 1, max: 500, default: 1 },
      schema: expect.objectContaining({ type: 'object' }),
    });
    const forSmall = (await app.inject(as('small', { url: '/v1/types' }))).json();
    expect(forSmall.types).toEqual([{ type: 'chat', maxPayloadBytes: 1048576, cost: { kind: 'fixed', cost: 1 } }]);
  });

  test('tells an admin how busy they are, too', async () => {
    const app = await appWith(script);
    const { types } = (await app.inject(as('admin', { url: '/v1/types?tenant=small' }))).json();
    expect(types).toEqual([
      expect.objectContaining({
        type: 'chat',
        capacity: { ratePerSecond: 20, burst: 20, concurrency: null },
        backloggedBuckets: 3,
        running: 2,
      }),
    ]);
  });
});

const BUCKET: Omit<BucketView, 'type' | 'tenant'> = {
  profile: { ...DEFAULT_PROFILE, depth: 10 },
  level: 0.5,
  waiting: 4,
  delayed: 3,
  running: 1,
  waitingCost: 4,
  waitingBytes: 40,
  nextStartMs: 99.5,
  servedPerSecond: 0.75,
  deservedPerSecond: 0.8,
};
const BUCKET_STATE = {
  level: 0.5,
  waiting: 4,
  delayed: 3,
  running: 1,
  waitingCost: 4,
  waitingBytes: 40,
  nextStartMs: 100,
  share: { receivedPerSecond: 0.75, deservedPerSecond: 0.8 },
};

describe('GET /v1/stats', () => {
  const script: Script = {
    type: async (type) => ({ ...TYPE, type, capacity: { ratePerSecond: 20, burst: 20, concurrency: Infinity } }),
    bucket: async (type, tenant) => ({ ...BUCKET, type, tenant }),
    buckets: async (type, cursor = 'r0') => ({
      buckets: [{ ...BUCKET, type, tenant: `from ${cursor}` }],
      ...(cursor === 'r0' && { cursor: 'd17' }),
    }),
  };
  const row = { ...TYPE, type: 'chat', capacity: { ratePerSecond: 20, burst: 20, concurrency: null } };
  const ask = async (query: string, key: 'admin' | 'acme' = 'admin') =>
    (await appWith(script)).inject(as(key, { url: `/v1/stats${query}` }));

  test('gives every type as a whole', async () => {
    const { types, buckets } = (await ask('')).json();
    expect(types.map(({ type }: { type: string }) => type)).toEqual(['ocr', 'chat', 'llm']);
    expect(types[1]).toEqual(row);
    expect(buckets).toBeUndefined();
  });

  test('gives of one type also its buckets, page by page', async () => {
    const first = (await ask('?type=chat&limit=1')).json();
    expect(first).toEqual({
      types: [row],
      buckets: [{ tenant: 'from r0', weight: 1, ...BUCKET_STATE }],
      cursor: 'd17',
    });
    const last = (await ask(`?type=chat&cursor=${first.cursor}`)).json();
    expect(last.buckets[0].tenant).toBe('from d17');
    expect(last.cursor).toBeUndefined();
  });

  test('gives the bucket of one tenant', async () => {
    const { buckets, cursor } = (await ask('?type=chat&tenant=acme')).json();
    expect(buckets).toEqual([{ tenant: 'acme', weight: 1, ...BUCKET_STATE }]);
    expect(cursor).toBeUndefined();
  });

  test.each([
    { query: '?type=nope', field: 'type' },
    { query: '?tenant=acme', field: 'type' },
    { query: '?limit=5', field: 'type' },
    { query: '?type=chat&limit=101', field: 'limit' },
    { query: '?type=chat&cursor=x9', field: 'cursor' },
    { query: '?type=chat&cursor=r01', field: 'cursor' },
    { query: '?type=chat&state=waiting', field: 'state' },
  ])('$query is answered 400 and names $field', async ({ query, field }) => {
    expect(problemIn(await ask(query))).toMatchObject({ status: 400, field });
  });

  test('is for admins', async () => {
    expect(problemIn(await ask('', 'acme'))).toMatchObject({ status: 403, code: 'admin_only' });
  });
});

describe('GET /v1/limits', () => {
  const script: Script = {
    bucket: async (type, tenant) => ({ ...BUCKET, type, tenant }),
  };

  test('gives the effective profile per type, where null is no limit, and what is taken of it', async () => {
    const app = await appWith(script);
    const response = await app.inject(as('acme', { url: '/v1/limits' }));
    const { tenant, limits } = response.json();
    expect([tenant, limits.length]).toEqual(['acme', 3]);
    expect(limits[1]).toEqual({
      type: 'chat',
      profile: {
        ratePerSecond: 1,
        burst: 1,
        jobRatePerSecond: null,
        depth: 10,
        maxBytes: 67108864,
        maxWaitMs: null,
        weight: 1,
        concurrency: null,
      },
      freePlaces: 3,
      ...BUCKET_STATE,
    });
    expect(response.headers.ratelimit, 'three buckets have no one room').toBeUndefined();
  });

  test('of one type says in its headers how much room there is', async () => {
    const app = await appWith(script);
    const response = await app.inject(as('acme', { url: '/v1/limits?type=chat' }));
    expect(response.json().limits).toHaveLength(1);
    expect(response.headers).toMatchObject({ 'ratelimit-policy': '"depth";q=10', ratelimit: '"depth";r=3' });
    const forbidden = await app.inject(as('small', { url: '/v1/limits?type=ocr' }));
    expect(problemIn(forbidden)).toMatchObject({ status: 403, code: 'type_forbidden' });
  });
});

test.each(['/v1/jobs/j1', '/v1/jobs?type=chat&state=waiting', '/v1/limits'])(
  'GET %s is answered 503 while Redis is away',
  async (url) => {
    const away = async (): Promise<never> => {
      throw new RedisUnavailable('away');
    };
    const app = await appWith({ job: away, jobs: away, bucket: away });
    const response = await app.inject(as('acme', { url }));
    expect(problemIn(response)).toMatchObject({ status: 503, code: 'redis_unavailable', retryAfterMs: 1000 });
    expect(response.headers['retry-after']).toBe('1');
  },
);

describe('probes', () => {
  test('/healthz says that the process is alive, whatever a probe adds to the address', async () => {
    const app = await appWith({});
    expect((await app.inject({ url: '/healthz?x=%zz' })).json()).toEqual({ status: 'alive' });
  });

  test('/readyz says what is ready, and what is not', async () => {
    const { app } = await testApp();
    expect((await app.inject({ url: '/readyz' })).json()).toEqual({ status: 'ready', checks: { redis: 'answers' } });
    const waiting = await testApp({ ready: async () => ({ ready: false, checks: { redis: 'no answer for 3 s' } }) });
    const response = await waiting.app.inject({ url: '/readyz' });
    expect(problemIn(response)).toMatchObject({
      status: 503,
      code: 'not_ready',
      detail: expect.stringContaining('redis: no answer for 3 s'),
      checks: { redis: 'no answer for 3 s' },
    });
  });

  test('/ points the way', async () => {
    const app = await appWith({});
    expect((await app.inject({ url: '/' })).json()).toMatchObject({ service: 'headgate', api: '/v1' });
  });
});

describe('addresses and methods', () => {
  test.each([
    ['GET', '/nope', 404, 'route_not_found', undefined],
    ['GET', '/v1', 404, 'route_not_found', undefined],
    ['GET', '/V1/jobs', 404, 'route_not_found', undefined],
    ['PUT', '/v1/jobs', 405, 'method_not_allowed', 'GET, HEAD, POST'],
    ['PATCH', '/v1/jobs/x', 405, 'method_not_allowed', 'DELETE, GET, HEAD'],
    ['POST', '/v1/types?x=1', 405, 'method_not_allowed', 'GET, HEAD'],
    ['OPTIONS', '/healthz', 405, 'method_not_allowed', 'GET, HEAD'],
  ] as const)('%s %s is answered %i', async (method, url, status, code, allow) => {
    const app = await appWith({});
    const response = await app.inject({ method, url, ...(method === 'GET' ? {} : { payload: '{' }) });
    expect(problemIn(response)).toMatchObject({ status, code });
    expect(response.headers.allow).toBe(allow);
  });

  test('a path that is not valid percent-encoding is answered 400', async () => {
    const app = await appWith({});
    for (const url of ['/v1/jobs/%zz', '/v1/jobs/%ff', '/%']) {
      expect(problemIn(await app.inject({ url }))).toMatchObject({
        status: 400,
        code: 'malformed_request',
        field: 'url',
      });
    }
  });

  test('every answer carries a request id, the caller’s own where it is harmless', async () => {
    const app = await appWith({});
    const own = await app.inject({ url: '/healthz', headers: { 'x-request-id': 'abc-1' } });
    expect(own.headers['x-request-id']).toBe('abc-1');
    for (const stated of ['', 'two words', 'x'.repeat(129)]) {
      const response = await app.inject({ url: '/nope', headers: { 'x-request-id': stated } });
      expect(response.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

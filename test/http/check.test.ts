import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { check, policedApp } from './support/policed-app.js';
import { CLOSED, LIMITED, OPEN, scriptedPolicing, TOO_DEAR, type Verdict } from './support/scripted-policing.js';
import { as, problemIn, type TestApp } from './support/test-app.js';

const scripted = scriptedPolicing();
let served: TestApp;
beforeAll(async () => {
  served = await policedApp(scripted.policing);
});
afterAll(() => served.app.close());

async function decided(verdict: Verdict, payload: object = { policy: 'api' }) {
  const { app } = await policedApp(scriptedPolicing(verdict).policing);
  return app.inject(check(payload));
}

describe('a call that may go on', () => {
  test('is answered 200 with what is left of the nearest limit, and of every limit', async () => {
    const response = await served.app.inject(check({ policy: 'api', key: 'user-7' }));
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({
      policy: 'api',
      allowed: true,
      outcome: 'conforming',
      decidedBy: 'policer',
      enforced: true,
      limit: 100,
      remaining: 9.25,
      resetMs: 376,
      limits: [
        { name: 'burst', limit: 100, remaining: 9.25, resetMs: 376 },
        { name: 'window', limit: 60, remaining: 59, resetMs: 60_000 },
      ],
      retryAfterMs: 0,
    });
    expect(response.headers).toMatchObject({
      'ratelimit-policy': '"burst";q=100;w=50, "window";q=60;w=60',
      ratelimit: '"burst";r=9;t=1, "window";r=59;t=60',
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '9',
    });
    expect(response.headers['retry-after']).toBeUndefined();
  });

  test('asks for its tenant, the tier of that, and a key within it', async () => {
    await served.app.inject(check({ policy: 'pay', key: 'user-7', cost: 2.5, peek: true }));
    const caller = { tenant: 'acme', tier: 'pro', key: 'user-7' };
    expect(scripted.asked.at(-1)).toEqual({ policy: 'pay', caller, cost: 2.5, peek: true });
  });

  test('costs 1, takes it, and is the tenant’s own unless it says otherwise', async () => {
    await served.app.inject(as('small', { method: 'POST', url: '/v1/check', payload: { policy: 'api' } }));
    const caller = { tenant: 'small', tier: 'free' };
    expect(scripted.asked.at(-1)).toEqual({ policy: 'api', caller, cost: 1, peek: false });
  });

  test('may be asked about by an admin, for a tenant that the file does not name', async () => {
    const payload = { policy: 'api', tenant: '__proto__', key: '' };
    await served.app.inject(as('admin', { method: 'POST', url: '/v1/check', payload }));
    expect(scripted.asked.at(-1)?.caller).toEqual({ tenant: '__proto__', tier: 'free', key: '' });
  });

  test('goes on above its limits where the policy is not enforced, and says so', async () => {
    const response = await decided({ ...LIMITED, allowed: true, enforced: false, retryAfterMs: 0 });
    expect(response.statusCode).toBe(200);
    expect(response.json()).toMatchObject({ allowed: true, outcome: 'limited', enforced: false, remaining: 0 });
    expect(response.headers['retry-after']).toBeUndefined();
  });

  test('goes on while Redis is away where the policy is open, without a number that nobody knows', async () => {
    const response = await decided(OPEN);
    expect(response.statusCode).toBe(200);
    const told = { policy: 'api', allowed: true, outcome: 'unknown', decidedBy: 'open', enforced: true };
    expect(response.json()).toEqual({ ...told, retryAfterMs: 0 });
    expect(Object.keys(response.headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
  });
});

describe('a call that may not go on', () => {
  test('is answered 429 with the same numbers and when to come back', async () => {
    const response = await decided({ ...LIMITED, retryAfterMs: 1500.2 });
    expect(response.statusCode).toBe(429);
    expect(problemIn(response)).toEqual({
      type: 'urn:headgate:problem:rate_limited',
      title: 'A rate limit is reached',
      status: 429,
      code: 'rate_limited',
      detail: 'The limit "burst" of the policy "api" is reached.',
      retryAfterMs: 1501,
      policy: 'api',
      allowed: false,
      outcome: 'limited',
      decidedBy: 'policer',
      enforced: true,
      limit: 100,
      remaining: 0,
      resetMs: 500,
      limits: [{ name: 'burst', limit: 100, remaining: 0, resetMs: 500 }],
    });
    expect(response.headers).toMatchObject({
      'retry-after': '2',
      'ratelimit-policy': '"burst";q=100;w=50',
      ratelimit: '"burst";r=0;t=1',
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '0',
    });
  });

  test('because it costs more than can ever pass is answered 422, and not to come back', async () => {
    const response = await decided(TOO_DEAR);
    expect(problemIn(response)).toMatchObject({
      status: 422,
      code: 'cost_exceeds_max',
      field: 'cost',
      outcome: 'cost_exceeds_max',
      max: 100,
      detail: '`cost` gives a cost above 100, the most that the policy "api" can ever let through.',
    });
    expect(response.json()).not.toHaveProperty('retryAfterMs');
    expect(response.headers['retry-after']).toBeUndefined();
  });

  test('because Redis is away and the policy closed is answered 503, and when to come back', async () => {
    const response = await decided(CLOSED);
    expect(problemIn(response)).toMatchObject({
      status: 503,
      code: 'redis_unavailable',
      allowed: false,
      decidedBy: 'closed',
      retryAfterMs: 1200,
    });
    expect(response.headers['retry-after']).toBe('2');
    expect(Object.keys(response.headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
  });
});

describe('nothing is asked of the policy where', () => {
  let before: number;
  beforeAll(() => {
    before = scripted.asked.length;
  });
  afterAll(() => expect(scripted.asked.length).toBe(before));

  test.each([
    ['{}', 'missing_field', 'policy'],
    ['{"key":"a"}', 'missing_field', 'policy'],
    ['{"policy":5}', 'invalid_field', 'policy'],
    ['{"policy":null}', 'invalid_field', 'policy'],
    ['{"policy":["api"]}', 'invalid_field', 'policy'],
    ['{"policy":"api","key":5}', 'invalid_field', 'key'],
    ['{"policy":"api","key":null}', 'invalid_field', 'key'],
    ['{"policy":"api","key":["a"]}', 'invalid_field', 'key'],
    ['{"policy":"api","key":{}}', 'invalid_field', 'key'],
    ['{"policy":"api","cost":0}', 'invalid_field', 'cost'],
    ['{"policy":"api","cost":-0}', 'invalid_field', 'cost'],
    ['{"policy":"api","cost":-1}', 'invalid_field', 'cost'],
    ['{"policy":"api","cost":0.0000009}', 'invalid_field', 'cost'],
    ['{"policy":"api","cost":1000000001}', 'invalid_field', 'cost'],
    ['{"policy":"api","cost":1e400}', 'invalid_field', 'cost'],
    ['{"policy":"api","cost":-1e400}', 'invalid_field', 'cost'],
    ['{"policy":"api","cost":"1"}', 'invalid_field', 'cost'],
    ['{"policy":"api","cost":"abc"}', 'invalid_field', 'cost'],
    ['{"policy":"api","cost":"0x10"}', 'invalid_field', 'cost'],
    ['{"policy":"api","cost":" 5 "}', 'invalid_field', 'cost'],
    ['{"policy":"api","cost":null}', 'invalid_field', 'cost'],
    ['{"policy":"api","cost":[]}', 'invalid_field', 'cost'],
    ['{"policy":"api","cost":[1]}', 'invalid_field', 'cost'],
    ['{"policy":"api","cost":true}', 'invalid_field', 'cost'],
    ['{"policy":"api","peek":1}', 'invalid_field', 'peek'],
    ['{"policy":"api","peek":"true"}', 'invalid_field', 'peek'],
    ['{"policy":"api","peek":null}', 'invalid_field', 'peek'],
    ['{"policy":"api","costs":1}', 'unknown_field', 'costs'],
    ['{"policy":"api","__proto__":{}}', 'unknown_field', '__proto__'],
    ['{"policy":"api","tenant":""}', 'invalid_field', 'tenant'],
    ['{"policy":"api","tenant":7}', 'invalid_field', 'tenant'],
    ['{"policy":"api","cost":NaN}', 'malformed_body', 'body'],
    ['[]', 'invalid_field', 'body'],
    ['null', 'invalid_field', 'body'],
    ['', 'invalid_field', 'body'],
  ])('the body is %s', async (body, code, field) => {
    const response = await served.app.inject(check(body));
    expect(problemIn(response)).toMatchObject({ status: 400, code, field });
  });

  test.each([
    ['apy', 'did you mean "api"?'],
    ['', 'the policies are api, pay, tight, watched'],
    ['__proto__', 'the policies are'],
    ['constructor', 'the policies are'],
    ['x'.repeat(1_000_000), 'the policies are'],
  ])('there is no policy %.20s', async (policy, hint) => {
    const response = await served.app.inject(check({ policy }));
    const detail = expect.stringContaining(hint);
    expect(problemIn(response)).toMatchObject({ status: 404, code: 'unknown_policy', field: 'policy', detail });
    expect(response.body.length).toBeLessThan(1000);
  });

  const asking = (payload: object, url = '/v1/check') => ({ method: 'POST', url, payload }) as const;

  test.each([
    ['no key', asking({ policy: 'api' }), 401, 'missing_key'],
    ['the key of a gateway', as('gateway', asking({ policy: 'api' })), 401, 'invalid_key'],
    ['an admin who names no tenant', as('admin', asking({ policy: 'api' })), 400, 'missing_field'],
    ['another tenant', as('acme', asking({ policy: 'api', tenant: 'small' })), 403, 'tenant_forbidden'],
    ['a query string', as('acme', asking({ policy: 'api' }, '/v1/check?policy=api')), 400, 'unknown_field'],
    ['a body that is too large', as('acme', asking({ key: 'x'.repeat(2_000_000) })), 413, 'body_too_large'],
  ])('the request has %s', async (_, request, status, code) => {
    expect(problemIn(await served.app.inject(request))).toMatchObject({ status, code });
  });
});

test.each([
  ['of a megabyte', 'x'.repeat(1024 * 1024)],
  ['with NUL', 'a\u0000b'],
  ['with braces', '{hg:x}:{y}'],
  ['with CRLF', 'a\r\nSET x 1\r\n'],
  ['that is __proto__', '__proto__'],
  ['that is constructor', 'constructor'],
  ['with half a surrogate pair', '\ud800'],
  ['that is empty', ''],
])('a key %s reaches the policy as it is', async (_, key) => {
  const response = await served.app.inject(check({ policy: 'api', key }));
  expect(response.statusCode).toBe(200);
  expect(scripted.asked.at(-1)?.caller.key).toBe(key);
});

describe('GET /v1/policies', () => {
  test('shows an admin every policy, by tier, and what was decided by it', async () => {
    const response = await served.app.inject(as('admin', { url: '/v1/policies' }));
    expect(response.statusCode).toBe(200);
    const [api, pay, , watched] = response.json().policies;
    const bucket = { name: 'burst', per: 'key', algorithm: 'token-bucket', ratePerSecond: 2 / 60 };
    expect(api).toEqual({
      policy: 'api',
      place: 'redis',
      onOutage: 'open',
      enforce: true,
      limits: [{ ...bucket, limit: 10 }],
      byTier: { pro: [{ ...bucket, limit: 100 }], anonymous: [{ ...bucket, limit: 3 }] },
      decisions: [{ outcome: 'conforming', decidedBy: 'policer', allowed: true, count: scripted.asked.length }],
    });
    expect(pay).toMatchObject({
      onOutage: 'closed',
      limits: [{ name: 'window', algorithm: 'sliding-window-log', limit: 60, windowMs: 60_000 }],
      decisions: [],
    });
    expect(watched).toMatchObject({ policy: 'watched', enforce: false });
  });

  test('is not for tenants', async () => {
    const response = await served.app.inject(as('acme', { url: '/v1/policies' }));
    expect(problemIn(response)).toMatchObject({ status: 403, code: 'admin_only', field: 'Authorization' });
  });
});

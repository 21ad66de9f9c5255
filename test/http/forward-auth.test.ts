import { METHODS } from 'node:http';
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { forwarded, policedApp } from './support/policed-app.js';
import { CLOSED, LIMITED, OPEN, scriptedPolicing, TOO_DEAR, type Verdict } from './support/scripted-policing.js';
import { problemIn, type TestApp } from './support/test-app.js';
import { KEYS } from './support/test-config.js';

const scripted = scriptedPolicing();
let served: TestApp;
let trusting: TestApp;
beforeAll(async () => {
  served = await policedApp(scripted.policing);
  trusting = await policedApp(scripted.policing, { trustProxy: ['127.0.0.1/32', '10.0.0.0/8'] });
});
beforeEach(() => {
  scripted.asked.length = 0;
});
afterAll(async () => {
  await served.app.close();
  await trusting.app.close();
});

async function denied(verdict: Verdict, query: string, options: InjectOptions = {}) {
  const { app } = await policedApp(scriptedPolicing(verdict).policing);
  return app.inject(forwarded(query, options));
}

/** Who was asked about. */
const caller = () => scripted.asked.at(-1)?.caller;

describe('a request that may pass', () => {
  test('is answered 200 with an empty body and what is left', async () => {
    const response = await served.app.inject(forwarded('?policy=api&cost=2.5'));
    expect({ status: response.statusCode, body: response.body }).toEqual({ status: 200, body: '' });
    expect(response.headers).toMatchObject({
      'content-length': '0',
      'ratelimit-policy': '"burst";q=100;w=50, "window";q=60;w=60',
      ratelimit: '"burst";r=9;t=1, "window";r=59;t=60',
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '9',
    });
    expect(scripted.asked).toEqual([{ policy: 'api', cost: 2.5, caller: { address: '127.0.0.1' } }]);
  });

  test('says no number where the policy is open because Redis is away', async () => {
    const response = await denied(OPEN, '?policy=api');
    expect(response.statusCode).toBe(200);
    expect(Object.keys(response.headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
  });

  // Inject knows only some; tests on real sockets send others.
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
  test.each(methods)('is asked about by %s as by any other method', async (method) => {
    const response = await served.app.inject(forwarded('?policy=api', { method }));
    expect({ status: response.statusCode, body: response.body }).toEqual({ status: 200, body: '' });
    expect(scripted.asked).toHaveLength(1);
  });

  test.each<[string, Record<string, string>, string]>([
    ['a body that was announced', { 'content-type': 'application/json', 'content-length': '7' }, 'not json'],
    ['a body of another type', { 'content-type': 'application/x-www-form-urlencoded' }, 'a=b'],
    ['a type that is none', { 'content-type': 'nonsense' }, 'x'],
    ['a compressed body', { 'content-type': 'application/json', 'content-encoding': 'gzip' }, 'x'],
    ['a body larger than any', { 'content-type': 'text/plain' }, 'x'.repeat(4_000_000)],
  ])('may come with %s of its client, which nobody reads', async (_, headers, payload) => {
    const response = await served.app.inject(forwarded('?policy=api', { method: 'POST', headers, payload }));
    expect(response.statusCode).toBe(200);
    expect(response.headers.connection, 'what follows on the connection is not known').toBe('close');
  });

  test('keeps the connection where no body was announced', async () => {
    const response = await served.app.inject(forwarded('?policy=api', { headers: { 'content-length': '0' } }));
    expect(response.headers.connection).not.toBe('close');
  });
});

describe('a request that may not pass', () => {
  const TOLD = {
    'retry-after': '2',
    'ratelimit-policy': '"burst";q=100;w=50',
    ratelimit: '"burst";r=0;t=1',
    'x-ratelimit-limit': '100',
    'x-ratelimit-remaining': '0',
  };

  test.each([
    ['?policy=api', 429],
    ['?policy=api&deny=429', 429],
    ['?policy=api&deny=403', 403],
  ])('%s is answered %i with the same headers', async (query, status) => {
    const response = await denied(LIMITED, query);
    expect(response.statusCode).toBe(status);
    expect(problemIn(response)).toMatchObject({ status, code: 'rate_limited', retryAfterMs: 1500, policy: 'api' });
    expect(response.headers).toMatchObject(TOLD);
  });

  test.each(['GET', 'HEAD', 'POST', 'OPTIONS'] as const)('by %s it is answered with the headers', async (method) => {
    const response = await denied(LIMITED, '?policy=api&deny=403', { method });
    expect(response.statusCode).toBe(403);
    expect(response.headers).toMatchObject(TOLD);
    if (method === 'HEAD') expect(response.body).toBe('');
  });

  test.each([
    ['?policy=api', 422],
    ['?policy=api&deny=403', 403],
  ])('because %s costs more than can ever pass it is answered %i, and not to come back', async (query, status) => {
    const response = await denied(TOO_DEAR, query);
    expect(problemIn(response)).toMatchObject({ status, code: 'cost_exceeds_max', field: 'cost', max: 100 });
    expect(response.headers['retry-after']).toBeUndefined();
  });

  test.each([
    ['?policy=pay', 503],
    ['?policy=pay&deny=403', 403],
  ])('because Redis is away and the policy of %s closed it is answered %i', async (query, status) => {
    const response = await denied(CLOSED, query);
    expect(problemIn(response)).toMatchObject({ status, code: 'redis_unavailable', decidedBy: 'closed' });
    expect(response.headers['retry-after']).toBe('2');
  });
});

describe('the caller', () => {
  test.each<[string, Record<string, string>, object]>([
    ['whom the gateway names', { 'x-headgate-subject': 'user-7' }, { key: 'user-7' }],
    ['of the tier that the gateway names', { 'x-headgate-tier': 'pro' }, { tier: 'pro', address: '127.0.0.1' }],
    ['of both', { 'x-headgate-subject': 'user-7', 'x-headgate-tier': 'pro' }, { key: 'user-7', tier: 'pro' }],
    ['whom nobody names', { 'x-headgate-subject': '' }, { address: '127.0.0.1' }],
  ])('is the one %s', async (_, headers, expected) => {
    await served.app.inject(forwarded('?policy=api', { headers }));
    expect(caller()).toEqual(expected);
  });

  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2::3', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:DB8:1:3::3', '2001:db8:1:3::/64'],
  ])('at %s is %s', async (remoteAddress, address) => {
    await served.app.inject(forwarded('?policy=api', { remoteAddress }));
    expect(caller()).toEqual({ address });
  });

  test('is not where X-Forwarded-For says, unless a proxy is believed', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9', 'x-real-ip': '203.0.113.9', forwarded: 'for=203.0.113.9' };
    await served.app.inject(forwarded('?policy=api', { headers }));
    expect(caller()).toEqual({ address: '127.0.0.1' });
    await trusting.app.inject(forwarded('?policy=api', { headers, remoteAddress: '198.51.100.1' }));
    expect(caller()).toEqual({ address: '198.51.100.1' });
  });

  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['192.0.2.66, 203.0.113.9', '203.0.113.9'],
    ['192.0.2.66, 203.0.113.9, 10.1.2.3', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ])('behind a proxy that is believed and says %s is %s', async (header, address) => {
    await trusting.app.inject(forwarded('?policy=api', { headers: { 'x-forwarded-for': header } }));
    expect(caller()).toEqual({ address });
  });

  test.each(['unknown', '_hidden', '', '1.2.3', '999.1.1.1'])(
    'of no address, where a proxy says %j, is nobody in particular: all such share',
    async (header) => {
      await trusting.app.inject(forwarded('?policy=api', { headers: { 'x-forwarded-for': `${header}, 10.0.0.1` } }));
      expect(caller()).toEqual(header === '' ? { address: '10.0.0.1' } : {});
    },
  );

  test('is counted from so many proxies where a number of them is believed', async () => {
    const { app } = await policedApp(scripted.policing, { trustProxy: 2 });
    const headers = { 'x-forwarded-for': '192.0.2.66, 203.0.113.9, 10.1.2.3' };
    await app.inject(forwarded('?policy=api', { headers }));
    expect(caller()).toEqual({ address: '203.0.113.9' });
  });
});

describe('without a policy the table of routes decides', () => {
  const nginx = (method: string, uri: string) => ({ 'x-original-method': method, 'x-original-uri': uri });
  const traefik = (method: string, uri: string) => ({ 'x-forwarded-method': method, 'x-forwarded-uri': uri });

  test.each([
    [traefik('GET', '/reports/7?full=1'), 'api', 2],
    [nginx('GET', '/reports/7?full=1'), 'api', 2],
    [nginx('DELETE', '/files/a/b'), 'tight', 1],
    [{ ...nginx('GET', '/reports/7'), ...traefik('GET', '/reports/7') }, 'api', 2],
  ])('%o is held to %s', async (headers, policy, cost) => {
    expect((await served.app.inject(forwarded('', { headers }))).statusCode).toBe(200);
    expect(scripted.asked).toEqual([expect.objectContaining({ policy, cost })]);
  });

  test.each([nginx('POST', '/reports/7'), traefik('GET', '/elsewhere'), nginx('GET', '*'), nginx('?', '\u00ff%zz')])(
    '%o is held to none, and passes without a charge',
    async (headers) => {
      const response = await served.app.inject(forwarded('?deny=403', { headers }));
      expect({ status: response.statusCode, body: response.body }).toEqual({ status: 200, body: '' });
      expect(Object.keys(response.headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
      expect(scripted.asked).toEqual([]);
    },
  );

  test('half of what a client sent through a gateway that tells the other pair means nothing', async () => {
    const headers = { ...nginx('GET', '/reports/7'), 'x-forwarded-uri': '/elsewhere' };
    await served.app.inject(forwarded('', { headers }));
    expect(scripted.asked).toEqual([expect.objectContaining({ policy: 'api', cost: 2 })]);
  });

  test('a cost too dear for its policy is told to stand there', async () => {
    const response = await denied(TOO_DEAR, '', { headers: nginx('GET', '/reports/7') });
    expect(problemIn(response)).toMatchObject({ status: 422, field: 'routes' });
  });

  test.each([
    [{}, '', 'missing_field', 'policy'],
    [{ 'x-original-uri': '/reports/7' }, '', 'missing_field', 'policy'],
    [{ 'x-forwarded-method': 'GET' }, '', 'missing_field', 'policy'],
    [{ ...nginx('GET', '/reports/7'), ...traefik('GET', '/else') }, '', 'invalid_field', 'X-Original-URI'],
    [{ ...nginx('GET', '/reports/7'), ...traefik('PUT', '/reports/7') }, '', 'invalid_field', 'X-Original-URI'],
    [nginx('GET', '/reports/7'), '?cost=5', 'invalid_field', 'cost'],
  ])('but not with %o and "%s"', async (headers, query, code, field) => {
    const response = await served.app.inject(forwarded(query, { headers }));
    expect(problemIn(response)).toMatchObject({ status: 400, code, field });
    expect(scripted.asked).toEqual([]);
  });
});

describe('a gateway', () => {
  test.each<[string, Record<string, string>, string]>([
    ['no key', {}, 'missing_key'],
    ['an empty key', { 'x-headgate-gateway-key': '' }, 'missing_key'],
    ['its key as the application’s', { authorization: `Bearer ${KEYS.gateway}` }, 'missing_key'],
    ['an admin’s key as the application’s', { authorization: `Bearer ${KEYS.admin}` }, 'missing_key'],
    ['another key', { 'x-headgate-gateway-key': `${KEYS.gateway}x` }, 'invalid_key'],
    ['a tenant’s key', { 'x-headgate-gateway-key': KEYS.acme }, 'invalid_key'],
    ['a scheme', { 'x-headgate-gateway-key': `Bearer ${KEYS.gateway}` }, 'invalid_key'],
    ['its key twice', { 'x-headgate-gateway-key': `${KEYS.gateway}, ${KEYS.gateway}` }, 'invalid_key'],
    ['a key that is too long', { 'x-headgate-gateway-key': 'x'.repeat(257) }, 'invalid_key'],
  ])('with %s is answered 401', async (_, headers, code) => {
    for (const method of ['GET', 'POST'] as const) {
      const response = await served.app.inject({ method, url: '/v1/forward-auth?policy=api', headers });
      expect(problemIn(response)).toMatchObject({ status: 401, code, field: 'X-Headgate-Gateway-Key' });
      expect(response.headers['www-authenticate']).toMatch(/^Headgate-Gateway-Key realm="headgate"/);
    }
    expect(scripted.asked).toEqual([]);
  });

  test('may hold an admin’s key, and nobody looks at the application’s', async () => {
    for (const authorization of ['Bearer an-applications-own', 'Basic eDp5', `Bearer ${KEYS.small}`]) {
      const headers = { 'x-headgate-gateway-key': KEYS.admin, authorization };
      expect((await served.app.inject(forwarded('?policy=api', { headers }))).statusCode).toBe(200);
    }
  });

  test.each([
    ['?policy=', 404, 'unknown_policy', 'policy'],
    ['?policy=nope', 404, 'unknown_policy', 'policy'],
    ['?policy=__proto__', 404, 'unknown_policy', 'policy'],
    ['?policy=api&policy=api', 400, 'invalid_field', 'policy'],
    ['?policy=api&deny=401', 400, 'invalid_field', 'deny'],
    ['?policy=api&deny=500', 400, 'invalid_field', 'deny'],
    ['?policy=api&deny=', 400, 'invalid_field', 'deny'],
    ['?policy=api&deny=403&deny=429', 400, 'invalid_field', 'deny'],
    ['?policy=api&cost=0', 400, 'invalid_field', 'cost'],
    ['?policy=api&cost=0.0000001', 400, 'invalid_field', 'cost'],
    ['?policy=api&cost=-1', 400, 'invalid_field', 'cost'],
    ['?policy=api&cost=1e400', 400, 'invalid_field', 'cost'],
    ['?policy=api&cost=1e3', 400, 'invalid_field', 'cost'],
    ['?policy=api&cost=NaN', 400, 'invalid_field', 'cost'],
    ['?policy=api&cost=Infinity', 400, 'invalid_field', 'cost'],
    ['?policy=api&cost=0x10', 400, 'invalid_field', 'cost'],
    ['?policy=api&cost=%205%20', 400, 'invalid_field', 'cost'],
    ['?policy=api&cost=1000000001', 400, 'invalid_field', 'cost'],
    ['?policy=api&cost=', 400, 'invalid_field', 'cost'],
    ['?policy=api&cost=1&cost=1', 400, 'invalid_field', 'cost'],
    ['?policy=api&key=a', 400, 'unknown_field', 'key'],
    ['?policy=%ff', 400, 'invalid_field', 'policy'],
    ['?policy=api?cost=5', 404, 'unknown_policy', 'policy'],
  ])('that asks %s is told its mistake', async (query, status, code, field) => {
    const response = await served.app.inject(forwarded(query));
    expect(problemIn(response)).toMatchObject({ status, code, field });
    expect(scripted.asked).toEqual([]);
  });

  test('is served whatever Node takes for a method', () => {
    for (const method of METHODS.filter((name) => name !== 'CONNECT')) {
      expect(served.app.supportedMethods, method).toContain(method);
    }
  });
});

test('wrong keys of gateways are limited by address like any others, and the right one goes on', async () => {
  const { app } = await policedApp(scriptedPolicing().policing);
  const shown = async (key: string, remoteAddress = '192.0.2.7') =>
    (await app.inject({ ...forwarded('?policy=api', { headers: { 'x-headgate-gateway-key': key } }), remoteAddress }))
      .statusCode;
  const wrong = await Promise.all(Array.from({ length: 25 }, (_, i) => shown(`wrong-${i}`)));
  expect(wrong.filter((status) => status === 401)).toHaveLength(20);
  expect(wrong.filter((status) => status === 429)).toHaveLength(5);
  const bearer = { authorization: 'Bearer wrong-as-well' };
  const elsewhere = await app.inject({ url: '/v1/types', headers: bearer, remoteAddress: '192.0.2.7' });
  expect(problemIn(elsewhere), 'one count for both').toMatchObject({ status: 429, code: 'too_many_wrong_keys' });
  expect(await shown('wrong', '192.0.2.8')).toBe(401);
  expect(await shown(KEYS.gateway)).toBe(200);
});

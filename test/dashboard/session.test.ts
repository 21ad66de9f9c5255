import type { InjectOptions } from 'fastify';
import { describe, expect, test } from 'vitest';
import { hashKey } from '../../src/http/keyring.js';
import { sessionCookie } from '../../src/http/sessions.js';
import type { LiveApp } from '../http/support/live-app.js';
import { liveTests } from '../http/support/live-tests.js';
import { KEYS } from '../http/support/test-config.js';
import { eventually } from '../support/eventually.js';
import { withDashboard } from './support/dashboard-parts.js';

const { api, another } = liveTests(withDashboard);

const PAGE = { 'x-headgate-page': '1' };

async function signIn(by: Pick<LiveApp, 'app'>, key: string, options: InjectOptions = {}) {
  const answer = await by.app.inject({ method: 'POST', url: '/dashboard/session', payload: { key }, ...options });
  const set = String(answer.headers['set-cookie'] ?? '');
  return {
    status: answer.statusCode,
    body: answer.body === '' ? undefined : answer.json(),
    set,
    cookie: set.split(';')[0] ?? '',
  };
}

async function ask(by: Pick<LiveApp, 'app'>, cookie: string, url: string, options: InjectOptions = {}) {
  const answer = await by.app.inject({ url, ...options, headers: { cookie, ...options.headers } });
  return { status: answer.statusCode, body: answer.body === '' ? undefined : answer.json() };
}

describe('signing in', () => {
  test.each([
    { key: KEYS.admin, who: { role: 'admin' } },
    { key: KEYS.acme, who: { role: 'tenant', tenant: 'acme' } },
  ])('with the key of $who.role opens a session that every process knows', async ({ key, who }) => {
    const [one, other] = [await another(), await another()];
    const { status, body, cookie, set } = await signIn(one, key);
    expect([status, body]).toEqual([200, who]);
    expect(set).toMatch(
      /^headgate_session=[0-9a-f]{64}\.[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    for (const each of [one, other]) {
      expect(await ask(each, cookie, '/dashboard/session')).toEqual({ status: 200, body: who });
      expect((await ask(each, `theme=dark; ${cookie}; x=y`, '/v1/limits?tenant=acme')).status).toBe(200);
    }
  });

  test('is for the keys of admins and tenants, and a wrong one opens nothing', async () => {
    const one = await another();
    for (const key of ['no-such-key-0123456789', KEYS.gateway]) {
      const { status, body, set } = await signIn(one, key);
      expect([status, body.code, body.field, set]).toEqual([401, 'invalid_key', 'key', '']);
    }
    expect(await api.redis.keys('hg:session:*')).toEqual([]);
  });

  test.each([
    { payload: {}, code: 'missing_field' },
    { payload: { key: 7 }, code: 'invalid_field' },
    { payload: { key: 'x'.repeat(257) }, code: 'invalid_field' },
    { payload: { key: KEYS.admin, more: 1 }, code: 'unknown_field' },
    { payload: '{"key":', code: 'malformed_body' },
  ])('refuses $payload as $code', async ({ payload, code }) => {
    const headers = { 'content-type': 'application/json' };
    const { status, body } = await signIn(await another(), '', { payload, headers });
    expect([status, body.code]).toEqual([400, code]);
  });

  test('keeps the cookie to TLS where there is TLS', () => {
    expect(sessionCookie('t', 1000, true)).toBe(`${sessionCookie('t', 1000, false)}; Secure`);
  });

  test('is refused to a page of another site', async () => {
    const one = await another();
    const origin = await signIn(one, KEYS.admin, { headers: { origin: 'https://evil.example' } });
    expect([origin.status, origin.body.code, origin.set]).toEqual([403, 'cross_site', '']);
  });

  test('with wrong keys is limited by address; other addresses sign in', async () => {
    const one = await another();
    const remoteAddress = '198.51.100.9';
    const codes: unknown[] = [];
    for (let i = 0; i < 21; i += 1)
      codes.push((await signIn(one, `wrong-key-0123456789-${i}`, { remoteAddress })).body.code);
    expect(codes.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 'invalid_key'));
    expect(codes[20]).toBe('too_many_wrong_keys');
    expect((await signIn(one, 'wrong-key-0123456789')).body.code).toBe('invalid_key');
  });

  test('leaves neither the key nor the secret of the session in Redis, and at most 50 sessions of a key', async () => {
    const one = await another();
    const cookies: string[] = [];
    for (let i = 0; i < 52; i += 1) cookies.push((await signIn(one, KEYS.acme)).cookie);
    const key = `hg:session:${hashKey(KEYS.acme)}`;
    expect(await api.redis.keys('hg:session:*')).toEqual([key]);
    const held = await api.redis.zrange(key, 0, -1);
    expect(held).toHaveLength(50);
    for (const cookie of cookies) expect(held.join()).not.toContain(cookie.split('.')[1]);
    expect(await api.redis.pttl(key)).toBeGreaterThan(11 * 3_600_000);
    const other = await another();
    expect((await ask(other, cookies[0] ?? '', '/dashboard/session')).body).toEqual({ role: null });
    expect((await ask(other, cookies[51] ?? '', '/dashboard/session')).status).toBe(200);
  });
});

describe('a session', () => {
  test('acts as its key does: a tenant is held to its own', async () => {
    const one = await another();
    const { cookie } = await signIn(one, KEYS.acme);
    expect((await ask(one, cookie, '/v1/limits')).body.tenant).toBe('acme');
    expect((await ask(one, cookie, '/v1/limits?tenant=small')).body.code).toBe('tenant_forbidden');
    expect((await ask(one, cookie, '/v1/stats')).body.code).toBe('admin_only');
    const pause = { method: 'POST', headers: PAGE } as const;
    expect((await ask(one, cookie, '/v1/tenants/acme/pause', pause)).body.code).toBe('admin_only');
  });

  test('ends when it is signed out', async () => {
    const [one, other] = [await another(), await another()];
    const { cookie } = await signIn(one, KEYS.admin);
    const out = await one.app.inject({ method: 'DELETE', url: '/dashboard/session', headers: { cookie, ...PAGE } });
    expect([out.statusCode, String(out.headers['set-cookie'])]).toEqual([204, expect.stringContaining('Max-Age=0')]);
    for (const each of [one, other]) expect((await ask(each, cookie, '/v1/types')).body.code).toBe('session_over');
    expect(await api.redis.keys('hg:session:*')).toEqual([]);
  });

  test('ends in every process when its key is revoked', async () => {
    const [one, other] = [await another(), await another()];
    const made = await api.ask('POST', '/v1/tenants/acme/keys');
    const { cookie } = await signIn(one, String(made.body.key));
    for (const each of [one, other]) expect((await ask(each, cookie, '/v1/limits')).status).toBe(200);
    await api.ask('DELETE', `/v1/tenants/acme/keys/${made.body.id}`);
    for (const each of [one, other]) {
      await eventually(async () => expect((await ask(each, cookie, '/v1/limits')).body.code).toBe('session_over'));
    }
  });

  test('is over once its time is', async () => {
    const one = await another();
    const { cookie } = await signIn(one, KEYS.acme);
    const key = `hg:session:${hashKey(KEYS.acme)}`;
    const [member = ''] = await api.redis.zrange(key, 0, -1);
    await api.redis.zadd(key, Date.now() - 1, member);
    expect((await ask(one, cookie, '/v1/limits')).body.code).toBe('session_over');
  });

  test('is nothing without a cookie, and a key that is shown beside it wins', async () => {
    const one = await another();
    const nobody = await one.app.inject('/dashboard/session');
    expect([nobody.statusCode, nobody.json()]).toEqual([200, { role: null }]);
    const { cookie } = await signIn(one, KEYS.acme);
    const headers = { authorization: `Bearer ${KEYS.small}` };
    expect((await ask(one, cookie, '/v1/limits', { headers })).body.tenant).toBe('small');
  });

  test('that nobody opened is looked up only so often from one address; one that is known goes on', async () => {
    const one = await another();
    const { cookie } = await signIn(one, KEYS.acme);
    const from = { remoteAddress: '198.51.100.9' };
    expect((await ask(one, cookie, '/v1/limits', from)).status).toBe(200);
    const codes: unknown[] = [];
    for (let i = 0; i < 21; i += 1) {
      const token = `${String(i).padStart(64, '0')}.${'A'.repeat(43)}`;
      codes.push((await ask(one, `headgate_session=${token}`, '/v1/limits', from)).body.code);
    }
    expect([codes[0], codes[19], codes[20]]).toEqual(['session_over', 'session_over', 'too_many_wrong_keys']);
    expect((await ask(one, cookie, '/v1/limits', from)).status).toBe(200);
    // Its owner signs in all the same.
    expect((await signIn(one, KEYS.acme, from)).status).toBe(200);
  });
});

describe('what changes something by cookie', () => {
  const post = { method: 'POST', payload: { type: 'ocr', tenant: 'acme', data: {} } } as const;
  test.each([
    { title: 'without the header of the page', headers: {}, field: 'X-Headgate-Page' },
    { title: 'with another value in it', headers: { 'x-headgate-page': 'true' }, field: 'X-Headgate-Page' },
    { title: 'from another origin', headers: { ...PAGE, origin: 'http://evil.example' }, field: 'Origin' },
    {
      title: 'from another port',
      headers: { ...PAGE, host: 'localhost:80', origin: 'http://localhost:81' },
      field: 'Origin',
    },
    { title: 'from an origin without a name', headers: { ...PAGE, origin: 'null' }, field: 'Origin' },
    { title: 'from a sister site', headers: { ...PAGE, 'sec-fetch-site': 'same-site' }, field: 'Sec-Fetch-Site' },
    { title: 'from another site', headers: { ...PAGE, 'sec-fetch-site': 'cross-site' }, field: 'Sec-Fetch-Site' },
    { title: 'from nowhere', headers: { ...PAGE, 'sec-fetch-site': 'none' }, field: 'Sec-Fetch-Site' },
  ])('is refused $title', async ({ headers, field }) => {
    const one = await another();
    const { cookie } = await signIn(one, KEYS.admin);
    const { status, body } = await ask(one, cookie, '/v1/jobs', { ...post, headers });
    expect([status, body.code, body.field]).toEqual([403, 'cross_site', field]);
    expect(await api.redis.keys('*bucket*')).toEqual([]);
  });

  test.each([
    { title: 'by a browser that says nothing', headers: PAGE },
    {
      title: 'from here',
      headers: { ...PAGE, host: 'h.example', origin: 'https://H.example', 'sec-fetch-site': 'same-origin' },
    },
  ])('is done $title', async ({ headers }) => {
    const one = await another();
    const { cookie } = await signIn(one, KEYS.admin);
    expect((await ask(one, cookie, '/v1/jobs', { ...post, headers })).status).toBe(202);
  });

  test('needs none of that with a key', async () => {
    const headers = { authorization: `Bearer ${KEYS.admin}`, origin: 'http://evil.example' };
    expect((await ask(await another(), '', '/v1/jobs', { ...post, headers })).status).toBe(202);
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKeyring, hashKey } from '../../src/http/keyring.js';
import { as, post, problemIn, type TestApp, testApp } from './support/test-app.js';
import { KEYS } from './support/test-config.js';

describe('a keyring', () => {
  const acme = { kind: 'tenant', tenant: 'acme' } as const;

  test('finds the holder of a key by its hash alone, and nobody for any other', () => {
    const keyring = createKeyring([
      { hash: hashKey('one'), principal: acme },
      { hash: hashKey('two'), principal: { kind: 'admin' } },
    ]);
    expect(keyring.find('one')).toEqual(acme);
    expect(keyring.find('two')).toEqual({ kind: 'admin' });
    for (const other of ['', 'One', 'one ', hashKey('one'), '__proto__']) expect(keyring.find(other)).toBeUndefined();
  });

  test('refuses one key for two holders, without telling the key', () => {
    const entries = ['acme', 'other'].map((tenant) => ({
      hash: hashKey('the key'),
      principal: { kind: 'tenant' as const, tenant },
    }));
    expect(() => createKeyring(entries)).toThrow('tenant "acme" and tenant "other" have the same key');
  });

  test.each([
    [{ kind: 'admin' } as const, 'an admin and a gateway have the same key'],
    [acme, 'tenant "acme" and a gateway have the same key'],
  ])('refuses one key for %o and a gateway', (principal, message) => {
    const hash = hashKey('the key');
    const entries = [
      { hash, principal },
      { hash, principal: { kind: 'gateway' as const } },
    ];
    expect(() => createKeyring(entries)).toThrow(message);
  });

  test('takes the same key of the same holder twice', () => {
    const entry = { hash: hashKey('one'), principal: acme };
    expect(createKeyring([entry, entry]).find('one')).toEqual(acme);
  });

  test('refuses what is not a hash, such as the key itself', () => {
    expect(() => createKeyring([{ hash: 'one', principal: acme }])).toThrow('not a SHA-256');
  });
});

describe('the door', () => {
  let served: TestApp;
  beforeAll(async () => {
    served = await testApp();
  });
  afterAll(() => served.app.close());

  const ROUTES = [
    ['POST', '/v1/jobs'],
    ['POST', '/v1/jobs/batch'],
    ['GET', '/v1/jobs?type=chat&state=waiting'],
    ['GET', '/v1/jobs/x'],
    ['DELETE', '/v1/jobs/x'],
    ['GET', '/v1/types'],
    ['GET', '/v1/limits'],
    ['POST', '/v1/check'],
    ['GET', '/v1/policies'],
  ] as const;

  test.each(ROUTES)('%s %s asks for a key', async (method, url) => {
    const response = await served.app.inject({ method, url });
    expect(response.statusCode).toBe(401);
    expect(response.headers['www-authenticate']).toBe('Bearer realm="headgate"');
    expect(problemIn(response)).toMatchObject({ code: 'missing_key', field: 'Authorization' });
  });

  test.each([
    'Bearer',
    'Bearer ',
    `Basic ${KEYS.acme}`,
    KEYS.acme,
    `Bearer ${KEYS.acme}x`,
    `Bearer ${KEYS.acme} x`,
    `Bearer ${'x'.repeat(257)}`,
    `Bearer ${hashKey(KEYS.acme)}`,
    `Bearer ${KEYS.gateway}`,
    'Bearer ü',
  ])('Authorization: %s proves nothing', async (authorization) => {
    const response = await served.app.inject({ url: '/v1/types', headers: { authorization } });
    expect(response.statusCode).toBe(401);
    expect(response.headers['www-authenticate']).toBe('Bearer realm="headgate", error="invalid_token"');
    expect(problemIn(response)).toMatchObject({ code: 'invalid_key', field: 'Authorization' });
  });

  test('takes the scheme in any case, as HTTP has it', async () => {
    const headers = { authorization: `bEARER  ${KEYS.acme}` };
    expect((await served.app.inject({ url: '/v1/types', headers })).statusCode).toBe(200);
  });

  test('lets a tenant name itself, and nobody else', async () => {
    expect((await served.app.inject(as('acme', { url: '/v1/types?tenant=acme' }))).statusCode).toBe(200);
    for (const other of ['small', 'ACME', 'acme%20', 'acm%C3%A9']) {
      const response = await served.app.inject(as('acme', { url: `/v1/types?tenant=${other}` }));
      expect(response.statusCode).toBe(403);
      expect(problemIn(response)).toMatchObject({ code: 'tenant_forbidden', field: 'tenant' });
    }
    const posted = await served.app.inject(post({ type: 'chat', data: {}, tenant: 'small' }));
    expect(problemIn(posted)).toMatchObject({ status: 403, code: 'tenant_forbidden', field: 'tenant' });
  });

  test.each([
    ...ROUTES.slice(2, 7),
    ['POST', '/v1/jobs', { type: 'chat', data: {} }],
    ['POST', '/v1/jobs/batch', { jobs: [{ type: 'chat', data: {} }] }],
    ['POST', '/v1/check', { policy: 'api' }],
  ] as const)('has an admin say for which tenant: %s %s', async (method, url, payload?: object) => {
    const response = await served.app.inject(
      as('admin', { method, url, ...(payload === undefined ? {} : { payload }) }),
    );
    const field = url.endsWith('batch') ? 'jobs[0].tenant' : 'tenant';
    expect(problemIn(response)).toMatchObject({ status: 400, code: 'missing_field', field });
  });

  test('refuses to let an admin name what is no tenant', async () => {
    for (const tenant of ['', 'x'.repeat(129), '%C3%A9'.repeat(65)]) {
      const response = await served.app.inject(as('admin', { url: `/v1/types?tenant=${tenant}` }));
      expect(problemIn(response)).toMatchObject({ status: 400, code: 'invalid_field', field: 'tenant' });
    }
  });

  test('asks for no key at /, /healthz and /readyz', async () => {
    for (const url of ['/', '/healthz', '/readyz']) expect((await served.app.inject({ url })).statusCode).toBe(200);
  });
});

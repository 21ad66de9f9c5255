import { describe, expect, test } from 'vitest';
import { hashKey } from '../../src/http/keyring.js';
import { eventually } from '../support/eventually.js';
import type { LiveApp } from './support/live-app.js';
import { liveTests } from './support/live-tests.js';

const { api, another } = liveTests();

async function make(tenant: string): Promise<{ id: string; key: string; prefix: string }> {
  const { status, body } = await api.ask('POST', `/v1/tenants/${encodeURIComponent(tenant)}/keys`);
  expect(status).toBe(201);
  return { id: String(body.id), key: String(body.key), prefix: String(body.prefix) };
}

const usedAt = (key: string) => api.redis.hget(`hg:{keys}:key:${hashKey(key)}`, 'used');

/** What is answered to a request with this very key. */
async function as(by: Pick<LiveApp, 'app'>, key: string, remoteAddress = '192.0.2.1', url = '/v1/types') {
  const response = await by.app.inject({ url, remoteAddress, headers: { authorization: `Bearer ${key}` } });
  return { status: response.statusCode, headers: response.headers, body: response.json() };
}

describe('a key made at run time', () => {
  test('is shown once, is one in every process at once, and speaks for its tenant alone', async () => {
    const [one, other] = [await another(), await another()];
    const { key, prefix } = await make('new tenant/1');
    expect(key).toMatch(/^hg_[\w-]{43}$/);
    expect(key.startsWith(prefix) && prefix.length === 8).toBe(true);
    for (const app of [one, other]) expect(await as(app, key)).toMatchObject({ status: 200 });
    const limits = await as(one, key, undefined, '/v1/limits?tenant=acme');
    expect([limits.status, limits.body.code]).toEqual([403, 'tenant_forbidden']);
    const listed = await api.ask('GET', '/v1/tenants/new%20tenant%2F1/keys');
    expect(JSON.stringify(listed.body)).not.toContain(key);
  });

  test('is nowhere in Redis but as its hash', async () => {
    const { key } = await make('acme');
    for (const name of await api.redis.keys('hg:{keys}*')) {
      expect(name).not.toContain(key);
      const type = await api.redis.type(name);
      const held = type === 'hash' ? await api.redis.hgetall(name) : await api.redis.zrange(name, 0, -1);
      expect(JSON.stringify(held)).not.toContain(key);
    }
    expect(await api.redis.exists(`hg:{keys}:key:${hashKey(key)}`)).toBe(1);
  });

  test('that was refused a moment ago, before it was one, is accepted: other processes are told', async () => {
    const one = await another();
    const { key, id } = await make('acme');
    expect((await as(one, key)).status).toBe(200);
    await api.ask('DELETE', `/v1/tenants/acme/keys/${id}`);
    await eventually(async () => expect((await as(one, key)).status).toBe(401));
  });

  test('is revoked in every process, alone among those of its tenant, and leaves nothing', async () => {
    const [one, other] = [await another(), await another()];
    const [first, second] = [await make('acme'), await make('acme')];
    for (const app of [one, other]) expect((await as(app, first.key)).status).toBe(200);
    const { status, body } = await api.ask('DELETE', `/v1/tenants/acme/keys/${first.id}`);
    expect([status, body]).toEqual([200, { tenant: 'acme', id: first.id, revoked: true }]);
    for (const app of [one, other]) {
      await eventually(async () => expect((await as(app, first.key)).status).toBe(401));
      expect((await as(app, second.key)).status).toBe(200);
    }
    await api.ask('DELETE', `/v1/tenants/acme/keys/${second.id}`);
    await eventually(async () => expect(await api.redis.keys('hg:{keys}*')).toEqual([]));
    const again = await api.ask('DELETE', `/v1/tenants/acme/keys/${first.id}`);
    expect([again.status, again.body.code]).toEqual([404, 'key_not_found']);
  });

  test('goes with its tenant, as do its jobs: nothing of them is left in Redis', async () => {
    const one = await another();
    const { key } = await make('leaving');
    const job = { type: 'chat', data: { secret: 'words' }, tenant: 'leaving' };
    expect((await api.ask('POST', '/v1/jobs', job)).status).toBe(202);
    const { status, body } = await api.ask('DELETE', '/v1/tenants/leaving');
    expect([status, body.erased, body.running, body.more]).toEqual([200, 1, 0, false]);
    await eventually(async () => expect((await as(one, key)).status).toBe(401));
    expect((await api.redis.keys('*leaving*')).filter((name) => !/:bucket:/.test(name))).toEqual([]);
  });

  test('of another tenant is not revoked by mistake', async () => {
    const { id, key } = await make('acme');
    expect((await api.ask('DELETE', `/v1/tenants/small/keys/${id}`)).status).toBe(404);
    expect((await as(await another(), key)).status).toBe(200);
  });

  test('is listed with when it was made and last used, oldest first', async () => {
    const one = await another();
    const [first, second] = [await make('acme'), await make('acme')];
    await as(one, second.key);
    await eventually(async () => {
      const { body } = await api.ask('GET', '/v1/tenants/acme/keys');
      expect(body).toEqual({
        tenant: 'acme',
        keys: expect.arrayContaining([
          { id: first.id, prefix: first.prefix, createdAt: expect.stringMatching(/Z$/), lastUsedAt: null },
          {
            ...{ id: second.id, prefix: second.prefix, createdAt: expect.stringMatching(/Z$/) },
            lastUsedAt: expect.stringMatching(/Z$/),
          },
        ]),
      });
    });
  });

  test('has its use noted at most once a minute', async () => {
    const [one, other] = [await another(), await another()];
    const { key } = await make('acme');
    const noted = () => usedAt(key);
    await as(one, key);
    const first = await eventually(async () => {
      const used = await noted();
      expect(used).not.toBeNull();
      return used;
    });
    for (let i = 0; i < 5; i += 1) for (const app of [one, other]) await as(app, key);
    expect(await noted()).toBe(first);
  });

  test('is one of at most a hundred', async () => {
    for (let i = 0; i < 100; i += 1) await make('acme');
    const { status, body } = await api.ask('POST', '/v1/tenants/acme/keys');
    expect([status, body.code]).toEqual([409, 'too_many_keys']);
    await make('small');
  });
});

test('only an admin makes, lists and revokes keys, and lists tenants', async () => {
  const asked = [
    ['POST', '/v1/tenants/acme/keys'],
    ['GET', '/v1/tenants/acme/keys'],
    ['DELETE', '/v1/tenants/acme/keys/x'],
    ['GET', '/v1/tenants'],
  ] as const;
  for (const [method, url] of asked) {
    const { status, body } = await api.ask(method, url, undefined, 'acme');
    expect([status, body.code], `${method} ${url}`).toEqual([403, 'admin_only']);
  }
});

test('tenants are listed from the file, from overrides and from keys, page by page', async () => {
  for (const tenant of ['ä', 'b/c', 'zoo']) await make(tenant);
  await api.ask('PATCH', '/v1/tenants/later', { tier: 'pro' });
  const seen: unknown[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await api.ask('GET', `/v1/tenants?limit=2${cursor}`);
    seen.push(...(body.tenants ?? []));
    if (body.cursor === undefined) break;
    cursor = `&cursor=${encodeURIComponent(String(body.cursor))}`;
  }
  expect(seen).toEqual([
    { tenant: 'ä', tier: 'free', inFile: false },
    { tenant: 'acme', tier: 'pro', inFile: true },
    { tenant: 'b/c', tier: 'free', inFile: false },
    { tenant: 'later', tier: 'pro', inFile: false },
    { tenant: 'small', tier: 'free', inFile: true },
    { tenant: 'zoo', tier: 'free', inFile: false },
  ]);
});

describe('wrong keys', () => {
  test('are refused so often from one address and then not even looked up; keys in use and other addresses go on', async () => {
    const one = await another();
    const { key } = await make('acme');
    // Once its use is noted, word of its making has arrived, and the next request has it remembered.
    await as(one, key);
    await eventually(async () => expect(await usedAt(key)).not.toBeNull());
    expect((await as(one, key, '198.51.100.7')).status).toBe(200);
    const answers = [];
    for (let i = 0; i < 25; i += 1) answers.push(await as(one, `wrong-${i}`, '198.51.100.7'));
    expect(answers.slice(0, 20).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 401));
    const last = answers.at(-1);
    expect([last?.status, last?.body.code]).toEqual([429, 'too_many_wrong_keys']);
    expect(Number(last?.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect((await as(one, key, '198.51.100.7')).status).toBe(200);
    expect((await as(one, 'wrong', '198.51.100.8')).status).toBe(401);
  });

  test('leave nothing in Redis', async () => {
    const before = await api.redis.dbsize();
    const one = await another();
    for (let i = 0; i < 15; i += 1) await as(one, `wrong-${i}`);
    expect(await api.redis.dbsize()).toBe(before);
  });
});

import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { startApi } from '../../src/cli/api-server.js';
import { scripts as leaseScripts } from '../../src/policing/lease-scripts.js';
import { scripts } from '../../src/policing/scripts.js';
import { configFrom } from '../http/support/test-config.js';
import { startRedis, type TestRedis, type TestRedisOptions } from '../support/redis-server.js';

const endings: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function redisServer(options: TestRedisOptions = {}): Promise<TestRedis> {
  const server = await startRedis(options);
  endings.push(() => server.stop());
  return server;
}

const KEYS = { admin: 'admin-key-0123456789', acme: 'acme-key-0123456789', gateway: 'gateway-key-0123456789' };

/** The API of a configuration, listening on a free port, over a Redis that a test may take away. */
async function listening(yaml: string, server: Pick<TestRedis, 'socketPath'>) {
  const config = await configFrom(`listen: 127.0.0.1:0\nadmin: { keys: [${KEYS.admin}] }\n${yaml}`);
  const logged: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(line, _encoding, done) {
      logged.push(JSON.parse(String(line)));
      done();
    },
  });
  const redis = { target: { socketPath: server.socketPath }, release: async () => undefined };
  const api = await startApi(config, { file: 'keys.json', isNew: false }, redis, pino({ level: 'info' }, sink));
  endings.push(() => api.close());
  const call = async (path: string, headers: Record<string, string>, body?: object) => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${api.url}${path}`, {
      ...sent,
      headers: { 'content-type': 'application/json', ...headers },
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  };
  return {
    api,
    logged,
    check: (body: object) => call('/v1/check', { authorization: `Bearer ${KEYS.acme}` }, body),
    forward: (query: string, headers: Record<string, string> = {}) =>
      call(`/v1/forward-auth${query}`, { 'x-headgate-gateway-key': KEYS.gateway, ...headers }),
    ready: () => call('/readyz', {}),
  };
}

const TENANT = `tenants: { acme: { key: ${KEYS.acme} } }`;
const POLICIES = `
types: {}
${TENANT}
policies:
  api: { rate: 1/m, burst: 2, onOutage: open, deadline: 5s } # a busy machine is no outage
routes:
  - { path: /reports/*, policy: api }
`;

const warnings = (logged: readonly Record<string, unknown>[]) =>
  logged.filter(({ level, msg }) => level === 40 && String(msg).includes('trustProxy'));

describe('the API of policies alone', () => {
  test('starts, decides, and leaves no connection behind', async () => {
    const server = await redisServer();
    const { api, check, ready } = await listening(POLICIES, server);
    expect((await check({ policy: 'api' })).headers.get('ratelimit')).toMatch(/^"burst";r=1;t=\d+$/);
    expect((await check({ policy: 'api' })).status).toBe(200);
    expect((await check({ policy: 'api' })).status).toBe(429);
    expect(await ready()).toMatchObject({ status: 200, body: { status: 'ready' } });
    const client = server.client();
    expect(await names(client)).toContain('headgate:api-policing');
    await api.close();
    endings.pop();
    await expect.poll(() => names(client)).toEqual([]);
  });

  test('gives Redis the scripts of policies of every place before the first call', async () => {
    const server = await redisServer();
    const policies = 'policies: { api: { rate: 1/m }, shared: { algorithm: leased, rate: 1/s } }';
    await listening(`types: {}\n${TENANT}\n${policies}`, server);
    const functions = async () => String(await server.client().function('LIST'));
    await expect.poll(functions).toContain(scripts.check.function);
    await expect.poll(functions).toContain(leaseScripts.lease.function);
  });

  test('opens no connection for policies that are kept in the process', async () => {
    const server = await redisServer();
    const yaml = `types: {}\n${TENANT}\npolicies: { own: { algorithm: local, rate: 1/m, burst: 1 } }`;
    const { check } = await listening(yaml, server);
    expect((await check({ policy: 'own' })).status).toBe(200);
    expect((await check({ policy: 'own' })).status).toBe(429);
    expect(await names(server.client())).not.toContain('headgate:api-policing');
  });
});

describe('gateways', () => {
  const gateways = `gateways: { keys: [${KEYS.gateway}] }`;

  test('are known by their keys, and routes by the table; clients by what a believed proxy says', async () => {
    const server = await redisServer();
    const { forward, logged } = await listening(`${POLICIES}${gateways}\ntrustProxy: [loopback]`, server);
    const from = (address: string) =>
      forward('', {
        'x-forwarded-for': address,
        'x-forwarded-method': 'GET',
        'x-forwarded-uri': '/reports/7',
      });
    for (const status of [200, 200, 429]) expect((await from('203.0.113.1')).status).toBe(status);
    expect((await from('203.0.113.2')).status).toBe(200);
    expect((await forward('', { 'x-headgate-gateway-key': KEYS.acme })).status).toBe(401);
    expect(warnings(logged)).toEqual([]);
  });

  test('that have keys while no proxy is believed are warned of', async () => {
    const { logged } = await listening(`${POLICIES}${gateways}`, await redisServer());
    expect(warnings(logged)).toHaveLength(1);
  });
});

describe('in an outage the API', () => {
  const job = `types: { chat: {} }\n${TENANT}`;

  test.each([
    ['a policy is open', 'policies: { a: { rate: 1/s, onOutage: open } }', 200, 'degraded'],
    ['a policy stands in locally', 'policies: { a: { rate: 1/s, onOutage: local } }', 200, 'degraded'],
    ['a policy is kept in the process', 'policies: { a: { rate: 1/s, algorithm: local } }', 200, 'degraded'],
    ['every policy is closed', 'policies: { a: { rate: 1/s, onOutage: closed } }', 503, undefined],
    ['there is no policy', '', 503, undefined],
  ])('says whether it is ready, where %s', async (_, policies, status, told) => {
    const server = await redisServer();
    const { ready } = await listening(`${job}\n${policies}`, server);
    expect((await ready()).body.status).toBe('ready');
    await server.kill();
    const answer = await ready();
    expect(answer.status).toBe(status);
    if (told !== undefined) expect(answer.body.status).toBe(told);
    expect(answer.body.checks).toMatchObject({ redis: 'does not answer' });
  });

  test('starts, decides as its policies say, and counts once Redis is there', async () => {
    const server = await redisServer();
    await server.kill();
    const { check, logged } = await listening(POLICIES, server);
    expect((await check({ policy: 'api' })).body).toMatchObject({ allowed: true, decidedBy: 'open' });
    await redisServer({ dir: server.dir });
    await expect
      .poll(async () => (await check({ policy: 'api', peek: true })).body)
      .toMatchObject({ decidedBy: 'policer', remaining: 2 });
    expect(logged.filter(({ level }) => level === 50)).toEqual([]);
  });
});

/** Of the connections that are Headgate's. */
async function names(client: ReturnType<TestRedis['client']>): Promise<string[]> {
  const list = String(await client.client('LIST'));
  return [...list.matchAll(/ name=(headgate:\S+)/g)].map(([, name = '']) => name).toSorted();
}

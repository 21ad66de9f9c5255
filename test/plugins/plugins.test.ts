import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readOptions } from '../../src/plugins/read-options.js';
import { scripts as leaseScripts } from '../../src/policing/lease-scripts.js';
import { openPolicing } from '../../src/policing/open-policing.js';
import { scripts } from '../../src/policing/scripts.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { FRAMEWORKS, KINDS, type ServerKind, type SharedOptions, type TestServer } from './support/servers.js';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis?.stop());
beforeEach(() => redis.flush());

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
async function open(kind: ServerKind, options: SharedOptions, trustProxy?: boolean): Promise<TestServer> {
  const server = await kind.open(options, trustProxy);
  servers.push(server);
  return server;
}

/** Three at once, and then one in a thousand seconds: nothing comes back while a test runs. */
const three = { rate: '0.001/s', burst: 3 };
const onRedis = (policy: object): SharedOptions => ({
  redis: redis.socketPath,
  policies: { api: { deadline: '5s', ...policy } },
  policy: 'api',
});

async function get(server: TestServer, path = '/', headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${server.url}${path}`, { headers });
}

async function statuses(count: number, ask: () => Promise<Response>): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i < count; i++) all.push((await ask()).status);
  return all;
}

function headersOf(answer: Response, ...names: string[]): Record<string, string | null> {
  return Object.fromEntries(names.map((name) => [name, answer.headers.get(name)]));
}

const RATE_LIMIT_HEADERS = ['ratelimit', 'ratelimit-policy', 'x-ratelimit-limit', 'x-ratelimit-remaining'];

describe.each(KINDS)('on $name', (kind) => {
  it('a request that conforms goes on, with the decision and the headers', async () => {
    const server = await open(kind, onRedis(three));
    const answer = await get(server);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ outcome: 'conforming', decidedBy: 'policer' });
    expect(headersOf(answer, ...RATE_LIMIT_HEADERS, 'retry-after')).toEqual({
      ratelimit: '"burst";r=2;t=1000',
      'ratelimit-policy': '"burst";q=3;w=3000',
      'x-ratelimit-limit': '3',
      'x-ratelimit-remaining': '2',
      'retry-after': null,
    });
  });

  it('one above the limit is answered 429 and goes no further', async () => {
    const server = await open(kind, onRedis(three));
    expect(await statuses(3, () => get(server))).toEqual([200, 200, 200]);
    const answer = await get(server);
    expect(answer.status).toBe(429);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(headersOf(answer, 'ratelimit', 'retry-after', 'x-ratelimit-remaining')).toEqual({
      ratelimit: '"burst";r=0;t=1000',
      'retry-after': '1000',
      'x-ratelimit-remaining': '0',
    });
    expect(await answer.json()).toMatchObject({ status: 429, code: 'rate_limited', policy: 'api', limit: 3 });
  });

  it('many at once get what the limit has, and no more', async () => {
    const server = await open(kind, onRedis({ ...three, burst: 20 }));
    const answers = await Promise.all(Array.from({ length: 60 }, () => get(server)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(40);
  });

  it('all servers over one Redis share the limit', async () => {
    const [one, other] = [await open(kind, onRedis(three)), await open(kind, onRedis(three))];
    expect(await statuses(2, () => get(one))).toEqual([200, 200]);
    expect(await statuses(2, () => get(other))).toEqual([200, 429]);
  });

  it('Redis has the scripts of policies of every place before the first request', async () => {
    const client = redis.client();
    await client.function('FLUSH');
    const { redis: address, policies } = onRedis(three);
    await open(kind, {
      redis: address,
      policies: { ...policies, leased: { algorithm: 'leased', ...three } },
      policy: 'api',
    });
    const functions = async () => String(await client.function('LIST'));
    await expect.poll(functions).toContain(scripts.check.function);
    await expect.poll(functions).toContain(leaseScripts.lease.function);
  });

  it('policies that are all local need no Redis', async () => {
    const server = await open(kind, { policies: { api: { algorithm: 'local', ...three } }, policy: 'api' });
    expect(await statuses(4, () => get(server))).toEqual([200, 200, 200, 429]);
  });

  it('whoever the program names as the caller is counted, by tenant, key and tier', async () => {
    const server = await open(kind, {
      ...onRedis({ ...three, byTier: { pro: { rate: '0.001/s', burst: 5 } } }),
      caller: async ({ headers: { tenant, user, tier } }) => ({
        ...(typeof tenant === 'string' && { tenant }),
        ...(typeof user === 'string' && { key: user }),
        ...(typeof tier === 'string' && { tier }),
      }),
    });
    const as = (headers: Record<string, string>, count: number) => statuses(count, () => get(server, '/', headers));
    expect(await as({ tenant: 'acme' }, 4)).toEqual([200, 200, 200, 429]);
    expect(await as({ tenant: 'acme', user: 'ann' }, 4)).toEqual([200, 200, 200, 429]);
    expect(await as({ user: 'ann' }, 4)).toEqual([200, 200, 200, 429]);
    expect(await as({ tenant: 'big', tier: 'pro' }, 6)).toEqual([200, 200, 200, 200, 200, 429]);
  });

  it('a request takes what it costs; what can never pass is answered 422, for good', async () => {
    const server = await open(kind, {
      ...onRedis({ rate: '0.001/s', burst: 10 }),
      cost: ({ headers }) => Number(headers.pages ?? 1),
    });
    const pages = (count: string) => get(server, '/', { pages: count });
    expect((await pages('8')).headers.get('x-ratelimit-remaining')).toBe('2');
    expect((await pages('3')).status).toBe(429);
    expect((await pages('2')).status).toBe(200);
    const dear = await pages('11');
    expect(dear.status).toBe(422);
    expect(dear.headers.get('retry-after')).toBeNull();
    const problem: unknown = await dear.json();
    const detail = 'The request costs more than 10, the most that the policy "api" can ever let through.';
    expect(problem).toMatchObject({ code: 'cost_exceeds_max', detail, max: 10 });
    expect(problem).not.toHaveProperty('field');
  });

  it('a number is the cost of every request', async () => {
    const server = await open(kind, { ...onRedis(three), cost: 1.5 });
    expect(await statuses(3, () => get(server))).toEqual([200, 200, 429]);
  });

  it('routes of the table have policies and costs of their own; what none names is held to `policy`, or passes', async () => {
    const { policies, redis: address } = onRedis(three);
    const options: SharedOptions = {
      redis: address,
      policies: { ...policies, uploads: { rate: '0.001/s', burst: 10 } },
      routes: [
        { path: '/uploads/*', policy: 'uploads', cost: 10 },
        { method: 'POST', path: '/users/:id', policy: 'api' },
      ],
    };
    const server = await open(kind, options);
    expect(await statuses(2, () => get(server, '/uploads/a?b=c'))).toEqual([200, 429]);
    expect(await statuses(5, () => get(server, '/users/1'))).toEqual([200, 200, 200, 200, 200]);
    const posted = () => fetch(`${server.url}/users/1`, { method: 'POST' });
    expect(await statuses(4, posted)).toEqual([200, 200, 200, 429]);
    const held = await open(kind, { ...options, policy: 'api' });
    expect(await statuses(1, () => get(held, '/elsewhere'))).toEqual([429]);
  });

  it('another spelling of a path leads around no route', async () => {
    const { policies, redis: address } = onRedis({ ...three, burst: 1 });
    const server = await open(kind, { redis: address, policies, routes: [{ path: '/login', policy: 'api' }] });
    const paths = ['/login', '/LOGIN', '/login/', '//login', '/%6cogin', '/x/../login'];
    const answers = await Promise.all(paths.map((path) => rawStatus(server, path)));
    expect(answers.toSorted()).toEqual([200, 429, 429, 429, 429, 429]);
  });

  it('what is skipped is neither counted nor marked', async () => {
    const server = await open(kind, { ...onRedis(three), skip: ({ headers }) => headers.probe === 'yes' });
    const probes = await Promise.all(Array.from({ length: 5 }, () => get(server, '/', { probe: 'yes' })));
    expect(probes.map((answer) => answer.headers.get('ratelimit'))).toEqual([null, null, null, null, null]);
    expect(await statuses(4, () => get(server))).toEqual([200, 200, 200, 429]);
  });

  it('with `enforce: false` everything passes, and the decision says what would have been', async () => {
    const server = await open(kind, onRedis({ ...three, enforce: false }));
    expect(await statuses(3, () => get(server))).toEqual([200, 200, 200]);
    const answer = await get(server);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ outcome: 'limited', decidedBy: 'policer' });
  });

  describe('while Redis is away', () => {
    const logged: string[] = [];
    const logger = {
      warn: (_detail: object, message: string) => void logged.push(message),
      info: (_detail: object, message: string) => void logged.push(message),
    };
    const away = (policy: object): SharedOptions => ({
      redis: '/nowhere/redis.sock',
      policies: { api: { ...three, ...policy } },
      policy: 'api',
      logger,
    });
    beforeEach(() => void logged.splice(0));

    it('the outage is told once, whatever the number of requests', async () => {
      const server = await open(kind, away({ onOutage: 'open' }));
      expect(await statuses(5, () => get(server))).toEqual([200, 200, 200, 200, 200]);
      expect(logged).toEqual([expect.stringContaining('Redis does not answer')]);
    });

    it('an open policy lets pass, with no number that nobody knows', async () => {
      const server = await open(kind, away({ onOutage: 'open' }));
      const answer = await get(server);
      expect(await answer.json()).toEqual({ outcome: 'unknown', decidedBy: 'open' });
      expect(Object.values(headersOf(answer, ...RATE_LIMIT_HEADERS))).toEqual([null, null, null, null]);
    });

    it('a closed one answers 503 with Retry-After', async () => {
      const server = await open(kind, away({ onOutage: 'closed' }));
      const answer = await get(server);
      expect(answer.status).toBe(503);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
      expect(await answer.json()).toMatchObject({ code: 'redis_unavailable', decidedBy: 'closed' });
    });

    it('a local one decides by the same limits', async () => {
      const server = await open(kind, away({ onOutage: 'local' }));
      expect(await statuses(4, () => get(server))).toEqual([200, 200, 200, 429]);
    });
  });

  it.each<[string, Partial<SharedOptions>]>([
    ['`cost` throws', { cost: () => fail() }],
    ['`cost` rejects', { cost: async () => fail() }],
    ['`cost` is no number', { cost: () => Number.NaN }],
    ['`cost` is 0', { cost: () => 0 }],
    ['`caller` throws', { caller: () => fail() }],
    ['`caller` rejects', { caller: async () => fail() }],
    ['`caller` knows nobody', { caller: () => ({}) }],
    ['`caller` names an address that is none', { caller: () => ({ address: 'nobody' }) }],
    ['`caller` names an empty tenant', { caller: () => ({ tenant: '' }) }],
    ['`skip` throws', { skip: () => fail() }],
  ])('where %s, the program has failed: 500, and nothing goes on', async (_, broken) => {
    const server = await open(kind, { ...onRedis(three), ...broken });
    const answer = await get(server);
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('"outcome":"');
  });

  it('a Policing that the program has opened is used, and left open', async () => {
    const { policies } = readOptions({ policies: { api: { algorithm: 'local', ...three } } }, undefined);
    const policing = openPolicing({ policies });
    const server = await kind.open({ policing, policy: 'api' });
    expect(await statuses(4, () => get(server))).toEqual([200, 200, 200, 429]);
    await server.close();
    const caller = { address: '127.0.0.1' };
    expect((await policing.decide({ policy: 'api', caller, cost: 1 })).outcome).toBe('limited');
    expect(policing.counts().map(({ outcome, count }) => [outcome, count])).toEqual([
      ['conforming', 3],
      ['limited', 2],
    ]);
    await policing.close();
  });

  it('what was opened is closed with the server', async () => {
    const client = redis.client();
    const connections = async () => String(await client.client('LIST')).match(/name=headgate:plugin/g)?.length ?? 0;
    const server = await kind.open(onRedis(three));
    await get(server);
    expect(await connections()).toBe(1);
    await server.close();
    await expect.poll(connections).toBe(0);
  });
});

describe.each(FRAMEWORKS)('the address of a client, on $name', (kind) => {
  const from = (server: TestServer, address: string) => get(server, '/', { 'x-forwarded-for': address });

  it('is the one that the framework finds, each with its own limit', async () => {
    const server = await open(kind, onRedis({ ...three, burst: 1 }), true);
    expect(await statuses(2, () => from(server, '192.0.2.1'))).toEqual([200, 429]);
    expect(await statuses(2, () => from(server, '192.0.2.2'))).toEqual([200, 429]);
  });

  it('is one client in every way of writing it: IPv4 in IPv6, and IPv6 by /64', async () => {
    const server = await open(kind, onRedis({ ...three, burst: 1 }), true);
    expect((await from(server, '192.0.2.1')).status).toBe(200);
    expect((await from(server, '::ffff:192.0.2.1')).status).toBe(429);
    expect((await from(server, '2001:db8:1:2::1')).status).toBe(200);
    expect((await from(server, '2001:db8:1:2:ffff::9')).status).toBe(429);
    expect((await from(server, '2001:db8:1:3::1')).status).toBe(200);
  });

  it('is that of the connection where nobody is trusted', async () => {
    const server = await open(kind, onRedis({ ...three, burst: 1 }), false);
    expect((await from(server, '192.0.2.1')).status).toBe(200);
    expect((await from(server, '192.0.2.2')).status).toBe(429);
  });
});

function fail(): never {
  throw new Error('the program failed on purpose');
}

/** As it stands, where `fetch` would tidy the path up. */
async function rawStatus(server: TestServer, path: string): Promise<number> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    const sent = request({ host: hostname, port, path }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.once('error', reject).end();
  });
}

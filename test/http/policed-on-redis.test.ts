import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPolicing } from '../../src/policing/open-policing.js';
import type { Policing } from '../../src/policing/policing.js';
import { closeConnection, openConnection, untilReady } from '../../src/redis/connection.js';
import { configSettings } from '../../src/shaping/config-settings.js';
import { RedisShaping } from '../../src/shaping/redis-shaping.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { check, forwarded, policedApp, policedConfig } from './support/policed-app.js';
import { as, post, problemIn } from './support/test-app.js';
import { KEYS } from './support/test-config.js';

let server: TestRedis;
let redis: ReturnType<typeof openConnection>;
let policing: Policing;
let app: FastifyInstance;
let trusting: FastifyInstance;
let logged: Record<string, unknown>[];

beforeAll(async () => {
  server = await startRedis();
  redis = openConnection({ socketPath: server.socketPath }, { name: 'test', deadlineMs: 10_000 });
  await untilReady(redis);
  const { policies, ...config } = await policedConfig();
  // A busy machine is no outage here; those have tests of their own.
  const patient = new Map([...policies].map(([name, policy]) => [name, { ...policy, deadlineMs: 10_000 }]));
  policing = openPolicing({ policies: patient, redis });
  const shaping = new RedisShaping(redis, configSettings({ ...config, policies }));
  ({ app, logged } = await policedApp(policing, { shaping }));
  ({ app: trusting } = await policedApp(policing, { shaping, trustProxy: 1 }));
});
beforeEach(() => server.flush());
afterAll(async () => {
  expect(logged, 'none of this was a failure of ours').toEqual([]);
  await app.close();
  await trusting.close();
  await policing.close();
  closeConnection(redis);
  await server.stop();
});

const asked = (payload: object) => app.inject(check(payload));
const statuses = async (count: number, ask: () => ReturnType<typeof asked>) =>
  (await Promise.all(Array.from({ length: count }, ask))).map(({ statusCode }) => statusCode);
const passed = (all: readonly number[]) => all.filter((status) => status === 200).length;

describe('POST /v1/check', () => {
  test('lets the burst of the tenant’s tier through and no more, whoever asks at the same time', async () => {
    const pro = await statuses(110, () => asked({ policy: 'api' }));
    expect(passed(pro)).toBe(100);
    expect(pro.filter((status) => status === 429)).toHaveLength(10);
    const free = as('small', { method: 'POST', url: '/v1/check', payload: { policy: 'api' } });
    expect(passed(await statuses(12, () => app.inject(free)))).toBe(10);
  });

  test('tells the numbers that hold, and when to come back', async () => {
    const first = await asked({ policy: 'tight' });
    expect(first.json()).toMatchObject({ allowed: true, outcome: 'conforming', limit: 1, remaining: 0 });
    expect(first.headers).toMatchObject({
      'ratelimit-policy': '"burst";q=1;w=60',
      ratelimit: '"burst";r=0;t=60',
      'x-ratelimit-limit': '1',
      'x-ratelimit-remaining': '0',
    });
    const second = await asked({ policy: 'tight' });
    const problem = problemIn(second);
    expect(problem).toMatchObject({ status: 429, code: 'rate_limited', policy: 'tight', limit: 1 });
    expect(problem.remaining).toBeCloseTo(0, 1);
    expect(Number(problem.retryAfterMs)).toBeGreaterThan(50_000);
    expect(Number(second.headers['retry-after']) * 1000).toBeGreaterThanOrEqual(Number(problem.retryAfterMs));
    expect(Number(second.headers['retry-after'])).toBeLessThanOrEqual(60);
  });

  test('counts a log by the window', async () => {
    expect(passed(await statuses(61, () => asked({ policy: 'pay' })))).toBe(60);
    const { headers } = await asked({ policy: 'pay', peek: true });
    expect(headers).toMatchObject({ 'ratelimit-policy': '"window";q=60;w=60' });
    expect(headers.ratelimit).toMatch(/^"window";r=0;t=(60|5\d)$/);
  });

  test('takes nothing for a peek', async () => {
    for (let n = 0; n < 3; n += 1) {
      expect((await asked({ policy: 'tight', peek: true })).json()).toMatchObject({ allowed: true, remaining: 1 });
    }
    expect(await redis.keys('*')).toEqual([]);
  });

  test('lets pass above the limits where they are not enforced', async () => {
    await asked({ policy: 'watched' });
    const response = await asked({ policy: 'watched' });
    expect(response.json()).toMatchObject({ allowed: true, outcome: 'limited', enforced: false });
  });

  test.each([
    ['with NUL', 'a\u0000b', 'a\u0000c'],
    ['with braces', '{a}', '{b}'],
    ['with CRLF', 'a\r\nSET x 1\r\n', 'a\r\nSET x 2\r\n'],
    ['called __proto__', '__proto__', 'constructor'],
    ['of colons', 'a:bc', 'ab:c'],
    ['in NFC and NFD', 'é', 'e\u0301'],
    ['of half surrogate pairs', '\ud800', '\ud801'],
    ['of a megabyte', `${'x'.repeat(1024 * 1024 - 1)}a`, `${'x'.repeat(1024 * 1024 - 1)}b`],
    ['that are empty and absent', '', undefined],
  ])('gives two keys %s a limit each, of some hundred bytes that expire', async (_, one, other) => {
    for (const key of [one, other]) {
      const named = { policy: 'tight', ...(key === undefined ? {} : { key }) };
      expect((await asked(named)).statusCode).toBe(200);
      expect((await asked(named)).statusCode).toBe(429);
    }
    const stored = await redis.keys('*');
    expect(stored).toHaveLength(2);
    for (const key of stored) {
      expect(await redis.pttl(key)).toBeGreaterThan(0);
      expect(await redis.memory('USAGE', key)).toBeLessThan(300);
    }
  });

  test('keeps one key of two tenants apart', async () => {
    expect((await asked({ policy: 'tight', key: 'a' })).statusCode).toBe(200);
    const small = as('small', { method: 'POST', url: '/v1/check', payload: { policy: 'tight', key: 'a' } });
    expect((await app.inject(small)).statusCode).toBe(200);
  });

  test.each([
    { policy: 'api', cost: 0 },
    { policy: 'api', cost: -1 },
    { policy: 'api', cost: '1' },
    { policy: 'api', cost: 1e-7 },
    { policy: 'api', cost: 101 },
    { policy: 'nope' },
    { policy: 'api', key: 5 },
    { policy: 'api', tenant: 'small' },
    {},
  ])('stores nothing for %o', async (payload) => {
    const response = await asked(payload);
    expect(response.statusCode).toBeGreaterThanOrEqual(400);
    expect(response.statusCode).toBeLessThan(500);
    expect(await redis.dbsize()).toBe(0);
  });

  test('refuses what costs more than can ever pass, and nothing is charged', async () => {
    const response = await asked({ policy: 'api', cost: 100.5 });
    expect(problemIn(response)).toMatchObject({ status: 422, code: 'cost_exceeds_max', field: 'cost', max: 100 });
    expect(response.headers['retry-after']).toBeUndefined();
    expect((await asked({ policy: 'api', peek: true })).json()).toMatchObject({ remaining: 100 });
  });

  test('charges fractions', async () => {
    expect((await asked({ policy: 'api', cost: 0.25 })).json().remaining).toBeCloseTo(99.75, 1);
  });
});

describe('/v1/forward-auth', () => {
  const ask = (query: string, headers: Record<string, string> = {}, remoteAddress = '192.0.2.7') =>
    app.inject(forwarded(query, { headers, remoteAddress }));

  test('is as strict as the tier of the caller, by its address', async () => {
    expect(passed(await statuses(5, () => ask('?policy=api')))).toBe(3);
    expect((await ask('?policy=api', {}, '192.0.2.8')).statusCode).toBe(200);
    expect((await ask('?policy=api', { 'x-headgate-tier': 'pro', 'x-headgate-subject': 'u' })).headers).toMatchObject({
      'ratelimit-policy': '"burst";q=100;w=3000',
    });
  });

  test.each([
    ['192.0.2.7', '::ffff:192.0.2.7', 429],
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', 429],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', 200],
    ['192.0.2.7', '192.0.2.8', 200],
  ])('after a call from %s one from %s is answered %i', async (first, second, status) => {
    expect((await ask('?policy=tight', {}, first)).statusCode).toBe(200);
    expect((await ask('?policy=tight', {}, second)).statusCode).toBe(status);
  });

  test('believes no client about its address', async () => {
    expect((await ask('?policy=tight', { 'x-forwarded-for': '203.0.113.1' })).statusCode).toBe(200);
    expect((await ask('?policy=tight', { 'x-forwarded-for': '203.0.113.2' })).statusCode).toBe(429);
  });

  test('believes a proxy that is believed, and only what that one added', async () => {
    const from = (header: string) =>
      trusting.inject(forwarded('?policy=tight', { headers: { 'x-forwarded-for': header } }));
    expect((await from('203.0.113.1')).statusCode).toBe(200);
    expect((await from('198.51.100.9, 203.0.113.1')).statusCode).toBe(429);
    expect((await from('203.0.113.2')).statusCode).toBe(200);
  });

  test('never takes a subject for a tenant, nor for an address', async () => {
    expect((await asked({ policy: 'tight' })).statusCode).toBe(200);
    expect((await ask('?policy=tight', { 'x-headgate-subject': 'acme' })).statusCode).toBe(200);
    expect((await ask('?policy=tight', { 'x-headgate-subject': '192.0.2.7' })).statusCode).toBe(200);
    expect((await ask('?policy=tight')).statusCode).toBe(200);
    expect((await ask('?policy=tight', { 'x-headgate-subject': 'acme' })).statusCode).toBe(429);
  });

  test.each([
    ['', 429],
    ['&deny=429', 429],
    ['&deny=403', 403],
  ])('refuses with %s as %i, and says when to come back', async (deny, status) => {
    await ask(`?policy=tight${deny}`);
    for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS'] as const) {
      const refused = await app.inject(forwarded(`?policy=tight${deny}`, { method, remoteAddress: '192.0.2.7' }));
      expect(refused.statusCode).toBe(status);
      expect(refused.headers).toMatchObject({
        'ratelimit-policy': '"burst";q=1;w=60',
        ratelimit: expect.stringMatching(/^"burst";r=0;t=\d+$/),
        'retry-after': expect.stringMatching(/^(5\d|60)$/),
      });
    }
  });

  test('charges by the table of routes, and nothing where it names none', async () => {
    const original = (uri: string) => ask('', { 'x-original-method': 'GET', 'x-original-uri': uri });
    expect((await original('/elsewhere')).statusCode).toBe(200);
    expect(await redis.dbsize()).toBe(0);
    expect((await original('/reports/7?x=1')).headers['x-ratelimit-remaining']).toBe('1');
    expect((await original('/reports/8')).statusCode).toBe(429);
    expect((await original('//REPORTS/%38')).statusCode).toBe(429);
  });

  test.each([
    ['?policy=tight', { 'x-headgate-gateway-key': 'wrong' }, 401],
    ['?policy=tight', { 'x-headgate-gateway-key': KEYS.acme }, 401],
    ['?policy=tight&deny=401', {}, 400],
    ['?policy=tight&cost=0', {}, 400],
    ['?policy=tight&cost=2', {}, 422],
    ['?policy=nope', {}, 404],
    ['', {}, 400],
  ])('stores nothing for "%s" with %o', async (query, headers, status) => {
    expect((await ask(query, headers)).statusCode).toBe(status);
    expect(await redis.dbsize()).toBe(0);
  });
});

describe('a policy at the door of a type', () => {
  const llm = (cost: number, headers: Record<string, string> = {}) => post({ type: 'llm', data: {}, cost }, headers);
  const remaining = async () => (await asked({ policy: 'api', peek: true })).json().remaining;

  test('refuses a job, of which nothing is stored', async () => {
    await asked({ policy: 'api', cost: 100 });
    const before = await redis.keys('*');
    const response = await app.inject(llm(1));
    expect(problemIn(response)).toMatchObject({ status: 429, code: 'rate_limited' });
    expect(response.headers.ratelimit).toMatch(/^"burst";r=0;t=\d+$/);
    expect((await redis.keys('*')).toSorted()).toEqual(before.toSorted());
  });

  test('charges what is admitted, and gives back what the bucket does not take', async () => {
    for (let n = 0; n < 3; n += 1) expect((await app.inject(llm(10))).statusCode).toBe(202);
    expect(await remaining()).toBeCloseTo(70, 0);
    expect(problemIn(await app.inject(llm(10)))).toMatchObject({ code: 'bucket_full' });
    expect(await remaining()).toBeCloseTo(70, 0);
  });

  test('charges a job once, however often it is posted', async () => {
    const once = llm(10, { 'idempotency-key': 'once' });
    for (let n = 0; n < 3; n += 1) expect((await app.inject(once)).statusCode).toBe(202);
    expect(await remaining()).toBeCloseTo(90, 0);
    expect((await app.inject(llm(20, { 'idempotency-key': 'once' }))).statusCode).toBe(422);
    expect(await remaining()).toBeCloseTo(90, 0);
  });

  test('keeps nobody who repeats a job from its answer, while it is exhausted', async () => {
    const first = await app.inject(llm(10, { 'idempotency-key': 'once' }));
    await asked({ policy: 'api', cost: 90 });
    const again = await app.inject(llm(10, { 'idempotency-key': 'once' }));
    expect([again.statusCode, again.headers['idempotent-replayed'], again.json().id]).toEqual([
      ...[202, 'true', first.json().id],
    ]);
    expect(problemIn(await app.inject(llm(20, { 'idempotency-key': 'once' })))).toMatchObject({
      code: 'idempotency_mismatch',
    });
    expect(problemIn(await app.inject(llm(10, { 'idempotency-key': 'new' })))).toMatchObject({ code: 'rate_limited' });
    const item = (idempotencyKey: string) => ({ type: 'llm', data: {}, cost: 10, idempotencyKey });
    const payload = { jobs: [item('new'), item('once')] };
    const { jobs } = (await app.inject(as('acme', { method: 'POST', url: '/v1/jobs/batch', payload }))).json();
    expect(jobs).toMatchObject([
      { verdict: 'rejected', problem: { code: 'rate_limited' } },
      { verdict: 'admitted', replayed: true, id: first.json().id },
    ]);
  });

  test('has a verdict for every item of a batch, and the bucket takes a prefix of those that pass', async () => {
    await asked({ policy: 'api', cost: 50 });
    const jobs = [20, 40, 20, 5, 1].map((cost) => ({ type: 'llm', data: {}, cost }));
    const response = await app.inject(as('acme', { method: 'POST', url: '/v1/jobs/batch', payload: { jobs } }));
    const answers: { verdict: string; problem?: { code: string } }[] = response.json().jobs;
    const codes = answers.map(({ verdict, problem }) => problem?.code ?? verdict);
    expect(codes).toEqual(['admitted', 'rate_limited', 'admitted', 'admitted', 'bucket_full']);
    expect(await remaining()).toBeCloseTo(5, 0);
  });
});

test('an admin sees how often what was decided', async () => {
  const before = await countOf('tight', false);
  await asked({ policy: 'tight' });
  await asked({ policy: 'tight' });
  expect(await countOf('tight', false)).toBe(before + 1);
});

async function countOf(policy: string, allowed: boolean): Promise<number> {
  const response = await app.inject(as('admin', { url: '/v1/policies' }));
  const policies: { policy: string; decisions: { allowed: boolean; count: number }[] }[] = response.json().policies;
  const decisions = policies.find((each) => each.policy === policy)?.decisions ?? [];
  return decisions.filter((each) => each.allowed === allowed).reduce((sum, { count }) => sum + count, 0);
}

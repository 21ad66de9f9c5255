import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AppParts } from '../../src/http/app.js';
import type { RedisTarget } from '../../src/redis/redis-target.js';
import { eventually } from '../support/eventually.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { type FollowingApp, followingApp, withFewSeats } from './support/following-app.js';
import { KEYS } from './support/test-config.js';

let server: TestRedis;
let api: FollowingApp;
const started: FollowingApp[] = [];
const proxies: TcpProxy[] = [];

beforeAll(async () => {
  server = await startRedis();
});
beforeEach(async () => {
  await server.flush();
  api = await start();
});
afterEach(async () => {
  for (const each of started.splice(0)) await each.close();
  for (const each of proxies.splice(0)) await each.stop();
});
afterAll(() => server.stop());

async function start(parts: Partial<AppParts> = {}, target?: RedisTarget): Promise<FollowingApp> {
  const app = await followingApp(target ?? { socketPath: server.socketPath }, parts);
  await app.work.configure();
  started.push(app);
  return app;
}

/** One whose Redis may go away. */
async function startFarAway() {
  const proxy = await startTcpProxy(server.socketPath);
  proxies.push(proxy);
  return { proxy, far: await start({}, { url: proxy.url }) };
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

async function answerOf(response: Response): Promise<Answer> {
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] };
}

/** Posts a job of acme's, and would rather wait for its end. */
async function post(
  prefer: string,
  more: Record<string, string> = {},
  to = api,
  key: string = KEYS.acme,
): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', prefer, ...more };
  const body = JSON.stringify({ type: 'chat', data: {} });
  return answerOf(await fetch(`${to.url}/v1/jobs`, { method: 'POST', headers, body }));
}

async function get(id: string, prefer: string, to = api): Promise<Answer> {
  const headers = { authorization: `Bearer ${KEYS.acme}`, prefer };
  return answerOf(await fetch(`${to.url}/v1/jobs/${id}`, { headers }));
}

/** A posted job that nobody waits for. */
async function posted(): Promise<string> {
  return String((await post('')).body.id);
}

/** The next job, as soon as there is one. */
async function taken(by = api) {
  return eventually(() => by.take());
}

describe('Prefer: wait on POST', () => {
  test('answers 200 with the job and its result once it has completed', async () => {
    const waiting = post('wait=60');
    const held = await taken();
    await api.settle(held, { kind: 'completed', value: '{"pages":3}' });
    const { status, headers, body } = await waiting;
    expect(status).toBe(200);
    expect(headers.get('preference-applied')).toBe('wait=60');
    expect(headers.get('location')).toBe(`/v1/jobs/${held.id}`);
    expect(headers.get('ratelimit-policy')).toBe('"depth";q=1000');
    expect(body).toMatchObject({ id: held.id, state: 'completed', result: { pages: 3 }, attempts: 1 });
  });

  test.each([
    { kind: 'failed', value: 'no such page', state: 'failed' },
    { kind: 'cancelled', value: 'cancelled', state: 'cancelled' },
  ] as const)('answers 200 with a job that $state', async ({ kind, value, state }) => {
    const waiting = post('wait=60');
    await api.settle(await taken(), { kind, value });
    expect(await waiting).toMatchObject({ status: 200, body: { state, error: value } });
  });

  test('answers 200 with a job that is cancelled before it starts', async () => {
    await posted();
    const waiting = post('wait=60');
    const id = await eventually(async () => {
      const response = await fetch(`${api.url}/v1/jobs?type=chat&state=waiting`, {
        headers: { authorization: `Bearer ${KEYS.acme}` },
      });
      const { jobs } = (await response.json()) as { jobs: { id: string }[] };
      expect(jobs.length).toBe(2);
      return jobs[1]?.id;
    });
    await fetch(`${api.url}/v1/jobs/${id}`, { method: 'DELETE', headers: { authorization: `Bearer ${KEYS.acme}` } });
    expect(await waiting).toMatchObject({ status: 200, body: { id, state: 'cancelled' } });
  });

  test('waits on through a retry', async () => {
    const waiting = post('wait=60');
    await api.settle(await taken(), { kind: 'retry', value: 'once more', delayMs: 0, front: true });
    await api.settle(await taken(), { kind: 'completed', value: '1' });
    expect(await waiting).toMatchObject({ status: 200, body: { state: 'completed', attempts: 2 } });
  });

  test('answers 202 with the job as it is when the time is up', async () => {
    const waiting = post('wait=1');
    const held = await taken();
    const { status, headers, body } = await waiting;
    expect(status).toBe(202);
    expect(headers.get('preference-applied')).toBe('wait=1');
    expect(body).toEqual({
      ...{ id: held.id, type: 'chat', tenant: 'acme', state: 'active' },
      ...{ position: null, releaseAt: null, waitMs: null, basis: null, releaseBetween: null },
    });
  });

  test('answers a repetition under an idempotency key with the job that has ended', async () => {
    const key = { 'idempotency-key': 'k' };
    const first = await post('', key);
    await api.settle(await taken(), { kind: 'completed', value: '7' });
    const again = await post('wait=60', key);
    expect(again).toMatchObject({ status: 200, body: { id: first.body.id, result: 7 } });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  test.each([
    ['', null],
    ['wait=0', null],
    ['respond-async', null],
    ['waiting=5', null],
  ])('%j is answered 202 at once', async (prefer, applied) => {
    const { status, headers } = await post(prefer);
    expect(status).toBe(202);
    expect(headers.get('preference-applied')).toBe(applied);
  });

  test.each(['wait', 'wait=', 'wait=-1', 'wait=1.5', 'wait=abc', 'wait=1e3', 'respond-async, wait=x'])(
    '%j is refused, and nothing is stored',
    async (prefer) => {
      const { status, body } = await post(prefer);
      expect([status, body.code, body.field]).toEqual([400, 'invalid_field', 'Prefer']);
      await expect(api.take()).rejects.toThrow('nothing to run');
    },
  );

  test.each([
    ['wait=3600', 'wait=60'],
    ['respond-async, wait="10"', 'wait=10'],
    ['WAIT = 7 ; foo=bar', 'wait=7'],
    ['wait=5, wait=9', 'wait=5'],
  ])('%j is granted as %s', async (prefer, granted) => {
    const waiting = post(prefer);
    await api.settle(await taken(), { kind: 'completed', value: '1' });
    const { status, headers } = await waiting;
    expect([status, headers.get('preference-applied')]).toEqual([200, granted]);
  });
});

describe('Prefer: wait on GET', () => {
  test('answers with the job once it has ended', async () => {
    const id = await posted();
    const waiting = get(id, 'wait=60');
    await api.settle(await taken(), { kind: 'completed', value: '"done"' });
    const { status, headers, body } = await waiting;
    expect([status, headers.get('preference-applied')]).toEqual([200, 'wait=60']);
    expect(body).toMatchObject({ id, state: 'completed', result: 'done' });
  });

  test('answers at once when it has ended already, and when there is no such job', async () => {
    const id = await posted();
    await api.settle(await taken(), { kind: 'completed', value: '1' });
    expect(await get(id, 'wait=60')).toMatchObject({ status: 200, body: { state: 'completed' } });
    expect(await get(`x${id.slice(1)}`, 'wait=60')).toMatchObject({ status: 404, body: { code: 'job_not_found' } });
  });

  test('answers with the job as it is when the time is up', async () => {
    const id = await posted();
    expect(await get(id, 'wait=1')).toMatchObject({ status: 200, body: { id, state: 'waiting', position: 1 } });
  });
});

test('a job that ended in another process is seen, whichever process its caller waits in', async () => {
  const other = await start();
  const waiting = [post('wait=60'), post('wait=60', {}, other)];
  for (let i = 0; i < 2; i += 1) await other.settle(await taken(other), { kind: 'completed', value: '1' });
  for (const each of waiting) expect(await each).toMatchObject({ status: 200, body: { state: 'completed' } });
});

test('three thousand callers wait at once over the connections that one takes, and each hears of his own job', async () => {
  const [jobs, callers] = [30, 3000];
  const crowd = await start(withFewSeats({ waits: { perTenant: callers, total: callers } }));
  const ids = await Promise.all(Array.from({ length: jobs }, posted));
  const before = await connections();
  const headers = { authorization: `Bearer ${KEYS.acme}`, prefer: 'wait=60' };
  const isWaiting = vi.spyOn(crowd.feed, 'watch');
  const waiting = Array.from({ length: callers }, (_, i) =>
    crowd.app.inject({ url: `/v1/jobs/${ids[i % jobs]}`, headers }),
  );
  await eventually(() => expect(isWaiting).toHaveBeenCalledTimes(callers));
  expect(await connections()).toBe(before);
  for (const id of ids) await crowd.app.inject({ method: 'DELETE', url: `/v1/jobs/${id}`, headers });
  for (const [i, answer] of (await Promise.all(waiting)).entries()) {
    expect([answer.statusCode, answer.json().id, answer.json().state]).toEqual([200, ids[i % jobs], 'cancelled']);
  }
});

async function connections(): Promise<number> {
  return Number(/connected_clients:(\d+)/.exec(await api.redis.info('clients'))?.[1]);
}

describe('too many who wait', () => {
  test('a tenant who takes all of his places is told so and nothing is stored; another one waits', async () => {
    const few = await start(withFewSeats({ waits: { perTenant: 1, total: 10 } }));
    const first = post('wait=60', {}, few);
    const held = await taken(few);
    expect(await post('wait=60', {}, few)).toMatchObject({ status: 429, body: { code: 'too_many_waiting' } });
    expect(await get(held.id, 'wait=60', few)).toMatchObject({ status: 429, body: { code: 'too_many_waiting' } });
    await expect(few.take()).rejects.toThrow('nothing to run');
    const another = post('wait=60', {}, few, KEYS.small);
    await few.settle(await taken(few), { kind: 'completed', value: '1' });
    await few.settle(held, { kind: 'completed', value: '1' });
    expect([(await first).status, (await another).status]).toEqual([200, 200]);
    const again = post('wait=60', {}, few);
    await few.settle(await taken(few), { kind: 'completed', value: '1' });
    expect((await again).status).toBe(200);
  });

  test('where all places are taken, the job is taken all the same and answered at once', async () => {
    const few = await start(withFewSeats({ waits: { perTenant: 1, total: 1 } }));
    const first = post('wait=60', {}, few);
    const held = await taken(few);
    const another = await post('wait=60', {}, few, KEYS.small);
    expect([another.status, another.headers.get('preference-applied')]).toEqual([202, null]);
    await few.settle(held, { kind: 'completed', value: '1' });
    expect((await first).status).toBe(200);
  });
});

test('a caller who leaves gives his place up at once, and his job goes on', async () => {
  const few = await start(withFewSeats({ waits: { perTenant: 1, total: 1 } }));
  const headers = { authorization: `Bearer ${KEYS.acme}`, 'content-type': 'application/json', prefer: 'wait=60' };
  const impatient = request(`${few.url}/v1/jobs`, { method: 'POST', headers });
  impatient.on('error', () => undefined);
  impatient.end(JSON.stringify({ type: 'chat', data: {} }));
  const held = await taken(few);
  impatient.destroy();
  const again = await eventually(async () => {
    const answer = await get(held.id, 'wait=1', few);
    expect(answer.status).toBe(200);
    return answer;
  });
  expect(again.body.state).toBe('active');
  await few.settle(held, { kind: 'completed', value: '5' });
  expect(await get(held.id, '', few)).toMatchObject({ body: { state: 'completed', result: 5 } });
  expect(few.logged).toEqual([]);
});

test('a server that closes answers those who wait', async () => {
  const waiting = post('wait=60');
  await taken();
  await eventually(async () => expect((await connectionsOf(api)) > 0).toBe(true));
  const closed = api.app.close();
  expect(await waiting).toMatchObject({ status: 202, body: { state: 'active' } });
  await closed;
});

function connectionsOf({ app }: FollowingApp): Promise<number> {
  return new Promise((resolve, reject) =>
    app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}

describe('while Redis is away', () => {
  test('a job that was taken is answered 202 in time, as it was then; a read is answered 503', async () => {
    const { proxy, far } = await startFarAway();
    const early = await post('', {}, far);
    const waiting = [post('wait=1', {}, far), get(String(early.body.id), 'wait=1', far)];
    await eventually(async () => expect(await api.redis.zcard('{hg:chat:0}:q:acme:prioritized')).toBe(2));
    await eventually(async () => expect(await blockedClients()).toBe(1));
    await proxy.refuse();
    const [posted, read] = await Promise.all(waiting);
    expect(posted).toMatchObject({ status: 202, body: { state: 'waiting', position: 2 } });
    expect(read).toMatchObject({ status: 503, body: { code: 'redis_unavailable' } });
  });

  test('an end that nobody could hear of is seen once Redis is back', async () => {
    const { proxy, far } = await startFarAway();
    const waiting = post('wait=60', {}, far);
    const held = await taken();
    await eventually(async () => expect(await blockedClients()).toBe(1));
    await proxy.refuse();
    await api.settle(held, { kind: 'completed', value: '1' });
    await proxy.pass();
    expect(await waiting).toMatchObject({ status: 200, body: { state: 'completed' } });
  });
});

async function blockedClients(): Promise<number> {
  return Number(/blocked_clients:(\d+)/.exec(await api.redis.info('clients'))?.[1]);
}

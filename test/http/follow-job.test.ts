import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AppParts } from '../../src/http/app.js';
import type { RedisTarget } from '../../src/redis/redis-target.js';
import type { Held } from '../../src/shaping/work-source.js';
import { eventually } from '../support/eventually.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { EventStream } from './support/event-stream.js';
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

async function posted(more: object = {}): Promise<string> {
  const headers = { authorization: `Bearer ${KEYS.acme}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ type: 'chat', data: {}, ...more });
  const response = await fetch(`${api.url}/v1/jobs`, { method: 'POST', headers, body });
  expect(response.status).toBe(202);
  return ((await response.json()) as { id: string }).id;
}

const follow = (id: string, lastEventId?: string, at = api, key: string = KEYS.acme) =>
  EventStream.open(`${at.url}/v1/jobs/${id}/events`, key, lastEventId);
const emit = ({ token }: Held, first: number, ...chunks: unknown[]) =>
  api.work.emit(
    token,
    first,
    chunks.map((chunk) => JSON.stringify(chunk)),
  );
const done = (held: Held) => api.settle(held, { kind: 'completed', value: '"all of it"' });
const chunksOf = (stream: EventStream) => stream.data('output').map(({ chunk }) => chunk);
const codeOf = async ({ response }: EventStream) => [
  response.status,
  ((await response.json()) as { code?: string }).code,
];

test('a stream tells a job’s life: its state, its progress, its output and its end', async () => {
  const id = await posted();
  const stream = await follow(id);
  await eventually(() => expect(stream.data('state')).toMatchObject([{ id, state: 'waiting', position: 1 }]));
  const held = await eventually(() => api.take());
  await eventually(() => expect(stream.data('state').at(-1)).toMatchObject({ state: 'active', position: null }));
  await api.work.progress(held.token, '{"page":3}');
  await eventually(() => expect(stream.data('progress')).toEqual([{ progress: { page: 3 } }]));
  await emit(held, 1, 'Hel', 'lo');
  await emit(held, 3, { done: true });
  await eventually(() => expect(chunksOf(stream)).toEqual(['Hel', 'lo', { done: true }]));
  await done(held);
  await stream.ended;
  expect(stream.messages.at(-1)).toMatchObject({
    event: 'end',
    id: 'end',
    data: { id, state: 'completed', result: 'all of it' },
  });
  expect(stream.messages.filter(({ event }) => event === 'output').map((message) => message.id)).toEqual([
    ...['1-1', '1-2', '1-3'],
  ]);
  expect(stream.events.filter((event) => event === 'end')).toHaveLength(1);
});

test('proxies are told to keep nothing back, and browsers when to come again', async () => {
  const stream = await follow(await posted());
  const { headers } = stream.response;
  expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(headers.get('cache-control')).toBe('no-store, no-transform');
  expect(headers.get('x-accel-buffering')).toBe('no');
  await eventually(() => expect(stream.retryMs).toBe(2000));
  stream.leave();
});

test('a job that has ended tells all of its output and its end, also to who comes late', async () => {
  const id = await posted();
  const held = await api.take();
  const chunks = Array.from({ length: 250 }, (_, i) => i);
  await emit(held, 1, ...chunks);
  await done(held);
  const stream = await follow(id);
  await stream.ended;
  expect(chunksOf(stream)).toEqual(chunks);
  expect(stream.events.at(-1)).toBe('end');
});

describe('Last-Event-ID', () => {
  test('goes on behind what was heard, in any process, without a gap and without a repetition', async () => {
    const id = await posted();
    const held = await api.take();
    await emit(held, 1, 'a', 'b', 'c');
    const first = await follow(id);
    await eventually(() => expect(chunksOf(first)).toEqual(['a', 'b', 'c']));
    first.leave();
    await emit(held, 4, 'd');
    const other = await start();
    const second = await follow(id, '1-2', other);
    await eventually(() => expect(chunksOf(second)).toEqual(['c', 'd']));
    await emit(held, 5, 'e');
    await done(held);
    await second.ended;
    expect(chunksOf(second)).toEqual(['c', 'd', 'e']);
  });

  test('of a former run is followed by all of the new run’s output', async () => {
    const id = await posted();
    const held = await api.take();
    await emit(held, 1, 'a', 'b');
    await api.settle(held, { kind: 'retry', value: 'x', delayMs: 0, front: true });
    const again = await eventually(() => api.take());
    await emit(again, 1, 'A');
    const stream = await follow(id, '1-2');
    await eventually(() => expect(stream.data('output')).toEqual([{ run: 2, chunk: 'A' }]));
    stream.leave();
  });

  test('of the end is answered 204, so that a browser does not come back', async () => {
    const id = await posted();
    await done(await api.take());
    const { response } = await follow(id, 'end');
    expect([response.status, await response.text()]).toEqual([204, '']);
  });

  test('that is none is refused', async () => {
    const stream = await follow(await posted(), '12');
    expect(await codeOf(stream)).toEqual([400, 'invalid_field']);
  });
});

describe('a promised start that moves', () => {
  test('is told, with how much later it is', async () => {
    await posted();
    const id = await posted();
    const stream = await follow(id);
    await eventually(() => expect(stream.data('state')).toHaveLength(1));
    for (let i = 0; i < 20; i += 1) await posted({ priority: 0 });
    // It may have been looked at while they came, when few of them stood before it, or when it was only late.
    const moved = await eventually(() => {
      const told = stream.data('promise');
      expect(told.at(-1)?.position).toBeGreaterThan(2);
      return told;
    });
    const allMs = moved.reduce((sum, { movedMs }) => sum + Number(movedMs), 0);
    expect(allMs).toBeGreaterThanOrEqual(200);
    stream.leave();
  });
});

test('nobody but the tenant follows a job', async () => {
  const id = await posted();
  expect(await codeOf(await follow(id, undefined, api, KEYS.small))).toEqual([404, 'job_not_found']);
  expect(await codeOf(await follow('nope'))).toEqual([404, 'job_not_found']);
  const admin = await EventStream.open(`${api.url}/v1/jobs/${id}/events?tenant=acme`, KEYS.admin);
  await eventually(() => expect(admin.events[0]).toBe('state'));
  admin.leave();
});

test('a tenant has so many streams at once, a process so many in all, and one who leaves makes room', async () => {
  const few = await start(withFewSeats({ streams: { perTenant: 1, total: 1 } }));
  const id = await posted();
  const first = await follow(id, undefined, few);
  expect(await codeOf(await follow(id, undefined, few))).toEqual([429, 'too_many_waiting']);
  const all = await EventStream.open(`${few.url}/v1/jobs/${id}/events?tenant=acme`, KEYS.admin);
  expect(await codeOf(all)).toEqual([429, 'too_many_waiting']);
  first.leave();
  const next = await eventually(async () => {
    const stream = await follow(id, undefined, few);
    expect(stream.response.status).toBe(200);
    return stream;
  });
  next.leave();
});

test('a server that closes ends its streams, and they go on elsewhere', async () => {
  const id = await posted();
  const held = await api.take();
  await emit(held, 1, 'a');
  const other = await start();
  const first = await follow(id, undefined, other);
  await eventually(() => expect(chunksOf(first)).toEqual(['a']));
  await other.app.close();
  await first.ended;
  expect(first.events).not.toContain('end');
  const second = await follow(id, '1-1');
  await emit(held, 2, 'b');
  await eventually(() => expect(chunksOf(second)).toEqual(['b']));
  second.leave();
});

test('a stream outlives an outage of Redis and misses nothing of it', async () => {
  const proxy = await startTcpProxy(server.socketPath);
  proxies.push(proxy);
  const far = await start({}, { url: proxy.url });
  const id = await posted();
  const held = await api.take();
  const stream = await follow(id, undefined, far);
  await eventually(() => expect(stream.data('state')).toHaveLength(1));
  await emit(held, 1, 'a');
  await eventually(() => expect(chunksOf(stream)).toEqual(['a']));
  await proxy.refuse();
  await emit(held, 2, 'b');
  await done(held);
  await proxy.pass();
  await stream.ended;
  expect(chunksOf(stream)).toEqual(['a', 'b']);
  expect(stream.events.at(-1)).toBe('end');
});

test('HEAD is no way to open a stream', async () => {
  const headers = { authorization: `Bearer ${KEYS.acme}` };
  const response = await fetch(`${api.url}/v1/jobs/${await posted()}/events`, { method: 'HEAD', headers });
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET']);
});

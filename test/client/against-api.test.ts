import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { HeadgateClient, type JobEvent } from '../../src/client/index.js';
import type { Held } from '../../src/shaping/work-source.js';
import { type FollowingApp, followingApp } from '../http/support/following-app.js';
import { KEYS } from '../http/support/test-config.js';
import { eventually } from '../support/eventually.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

let server: TestRedis;
let api: FollowingApp;
let client: HeadgateClient;
const started: FollowingApp[] = [];
const JOB = { type: 'chat', data: { text: 'hello' } };

beforeAll(async () => {
  server = await startRedis();
});
beforeEach(async () => {
  await server.flush();
  api = await start();
  client = new HeadgateClient({ url: api.url, key: KEYS.acme });
});
afterEach(async () => {
  for (const each of started.splice(0)) await each.close();
});
afterAll(() => server.stop());

async function start(): Promise<FollowingApp> {
  const app = await followingApp({ socketPath: server.socketPath });
  await app.work.configure();
  started.push(app);
  return app;
}

const taken = (): Promise<Held> => eventually(() => api.take());
const complete = (held: Held, result: unknown) =>
  api.settle(held, { kind: 'completed', value: JSON.stringify(result) });
const emit = (held: Held, first: number, ...chunks: unknown[]) =>
  api.work.emit(
    held.token,
    first,
    chunks.map((chunk) => JSON.stringify(chunk)),
  );

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

test('run submits a job and resolves with what the handler returned', async () => {
  const run = client.run<{ words: number }>(JOB);
  await complete(await taken(), { words: 3 });
  const job = await run;
  if (job.state !== 'completed') throw new Error(`it was ${job.state}`);
  expect(job.result.words).toBe(3);
  expect(await client.result(job.id)).toEqual(job);
});

test('a job that failed is an end like any other, and can be retried', async () => {
  const { id } = await client.submit(JOB);
  const end = client.result(id);
  await api.settle(await taken(), { kind: 'failed', value: 'no such page' });
  expect(await end).toMatchObject({ id, state: 'failed', error: 'no such page' });
  expect(await client.retry(id)).toMatchObject({ id, state: 'waiting' });
  await expect(client.retry(id)).rejects.toMatchObject({ code: 'not_failed', status: 409 });
});

test('a job is submitted once under one key, read, listed page by page, and cancelled', async () => {
  const startBy = new Date(Date.now() + 3_600_000);
  const job = { ...JOB, priority: 2, startBy };
  const first = await client.submit(job, { idempotencyKey: 'one' });
  const again = await client.submit(job, { idempotencyKey: 'one' });
  expect([first.replayed, again.replayed, again.id]).toEqual([false, true, first.id]);
  expect(await client.job(first.id)).toMatchObject({ state: 'waiting', startBy: startBy.toISOString(), priority: 2 });
  const { id } = await client.submit(JOB);
  const page = await client.jobs({ type: 'chat', state: 'waiting', limit: 1 });
  const next = await client.jobs({ type: 'chat', state: 'waiting', limit: 1, cursor: String(page.cursor) });
  expect([...page.jobs, ...next.jobs].map((each) => each.id).toSorted()).toEqual([first.id, id].toSorted());
  expect(await client.cancel(id)).toEqual({ id, state: 'cancelled' });
  expect(await client.result(id)).toMatchObject({ state: 'cancelled' });
  await expect(client.cancel(id)).rejects.toMatchObject({ code: 'already_ended' });
});

test('a stream tells a job’s life, and goes on by itself without a gap or a repetition where it broke off', async () => {
  const { id } = await client.submit(JOB);
  const other = await start();
  const urls = [api.url];
  // As a load balancer would: whoever comes back is sent to the process that is there.
  const balanced = new HeadgateClient({
    url: api.url,
    key: KEYS.acme,
    fetch: (input, init) => fetch(String(input).replace(api.url, urls[0] ?? other.url), init),
  });
  const events: JobEvent<string>[] = [];
  const following = (async () => {
    for await (const event of balanced.stream<string>(id)) events.push(event);
  })();
  const chunks = () => events.flatMap((event) => (event.event === 'output' ? [event.chunk] : []));
  const held = await taken();
  await api.work.progress(held.token, '{"page":1}');
  await emit(held, 1, 'a', 'b');
  await eventually(() => expect(chunks()).toEqual(['a', 'b']));
  urls.pop();
  await api.app.close();
  await emit(held, 3, 'c');
  await complete(held, 'abc');
  await following;
  expect(chunks()).toEqual(['a', 'b', 'c']);
  expect(events.map(({ event }) => event)).toContain('progress');
  expect(events.at(-1)).toMatchObject({ event: 'end', job: { state: 'completed', result: 'abc' } });
  const late = await all(balanced.stream(id, { lastEventId: '1-2' }));
  expect(late.map(({ event }) => event)).toEqual(['output', 'end']);
  expect(await all(balanced.stream(id, { lastEventId: 'end' }))).toEqual([]);
});

test('who leaves a stream closes it, by hand or by signal', async () => {
  const { id } = await client.submit(JOB);
  const open = () => new Promise<number>((resolve) => api.app.server.getConnections((_, count) => resolve(count)));
  for await (const { event } of client.stream(id)) {
    expect(event).toBe('state');
    break;
  }
  const leaving = new AbortController();
  const stream = client.stream(id, { signal: leaving.signal });
  await stream.next();
  leaving.abort(new Error('enough'));
  await expect(stream.next()).rejects.toThrow('enough');
  await eventually(async () => expect(await open()).toBeLessThanOrEqual(1));
});

test('a stream of a job that is not there says so, and is not opened again', async () => {
  await expect(client.stream('nope').next()).rejects.toMatchObject({ code: 'job_not_found', status: 404 });
});

import { randomUUID } from 'node:crypto';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { closeConnection, openConnection, untilReady } from '../../src/redis/connection.js';
import { configSettings } from '../../src/shaping/config-settings.js';
import { RedisShaping } from '../../src/shaping/redis-shaping.js';
import { typeSettings } from '../../src/shaping/settings.js';
import { WorkSource } from '../../src/shaping/work-source.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { as, post, problemIn, testApp } from './support/test-app.js';
import { testConfig } from './support/test-config.js';

let server: TestRedis;
let redis: ReturnType<typeof openConnection>;
let app: FastifyInstance;
let logged: Record<string, unknown>[];
let work: WorkSource;

beforeAll(async () => {
  server = await startRedis();
  redis = openConnection({ socketPath: server.socketPath }, { name: 'test', deadlineMs: 2000 });
  await untilReady(redis);
  const settings = configSettings(await testConfig());
  const shaping = new RedisShaping(redis, settings);
  ({ app, logged } = await testApp({ shaping }));
  work = new WorkSource(redis, 'chat', typeSettings(settings, 'chat'), { worker: 'w', lockMs: 30_000 });
});
beforeEach(async () => {
  await server.flush();
  await work.configure();
});
afterAll(async () => {
  expect(logged, 'none of this was a failure of ours').toEqual([]);
  await app.close();
  closeConnection(redis);
  await server.stop();
});

const chat = (data: object = {}) => ({ type: 'chat', data });

async function answer(options: InjectOptions) {
  const response = await app.inject(options);
  return { status: response.statusCode, headers: response.headers, body: response.json() };
}

/** Takes the next job, as a worker would. */
async function dispatched() {
  const token = randomUUID();
  const taken = await work.dispatch(token);
  if (taken.kind !== 'job') throw new Error('nothing to run');
  return { token, tenant: taken.tenant, id: taken.id };
}

test('a quote says what the job is then promised, and has posted nothing', async () => {
  const before = Date.now();
  await answer(post(chat()));
  const quoted = await answer(as('acme', { url: '/v1/quote?type=chat&count=3' }));
  expect(quoted).toMatchObject({ status: 200, body: { endAt: null, freePlaces: 999 } });
  const posted = await answer(post(chat()));
  expect(posted.body.position).toBe(2);
  // No worker takes what is ready, so it is late by what has passed, and what is behind it by no more.
  const apartMs = Date.parse(posted.body.releaseAt) - Date.parse(quoted.body.startAt);
  expect(apartMs).toBeGreaterThanOrEqual(-1);
  expect(apartMs).toBeLessThanOrEqual(Date.now() - before + 1);
});

test('a posted job is read back as it was promised, and its bucket’s other jobs stand behind it', async () => {
  const before = Date.now();
  const first = await answer(post(chat({ n: 1 })));
  const second = await answer(post({ ...chat({ n: 2 }), priority: 9 }));
  expect([first.status, second.status]).toEqual([202, 202]);
  expect(first.body).toMatchObject({ state: 'waiting', position: 1, basis: 'rate' });
  expect(second.body).toMatchObject({ state: 'waiting', position: 2 });
  expect(Date.parse(second.body.releaseAt)).toBeGreaterThanOrEqual(before + 200);
  expect(second.headers).toMatchObject({ 'ratelimit-policy': '"depth";q=1000', ratelimit: '"depth";r=998' });

  const read = await answer(as('acme', { url: String(second.headers.location) }));
  const { id, type, tenant, state, position } = second.body;
  expect(read.body).toMatchObject({ id, type, tenant, state, position });
  expect(read.body).toMatchObject({ priority: 9, cost: 1, attempts: 0, cancelRequested: false, progress: null });
  expect(Date.parse(read.body.releaseAt)).toBeGreaterThanOrEqual(before + 200);
});

test('a delayed job has no place yet, and a lower bound for its start', async () => {
  const { body } = await answer(post({ ...chat(), delayMs: 315_576_000_000 }));
  expect(body).toMatchObject({ state: 'delayed', position: null, basis: 'delay' });
  expect(body.waitMs).toBeGreaterThanOrEqual(315_576_000_000);
});

test('a job that has run is read with its result', async () => {
  const { body } = await answer(post(chat()));
  const held = await dispatched();
  expect((await answer(as('acme', { url: `/v1/jobs/${body.id}` }))).body).toMatchObject({
    state: 'active',
    position: null,
  });
  await work.settle(held, { kind: 'completed', value: '{"text":"ü"}' });
  const read = (await answer(as('acme', { url: `/v1/jobs/${body.id}` }))).body;
  expect(read).toMatchObject({ state: 'completed', result: { text: 'ü' }, releaseAt: null, attempts: 1 });
  expect(Date.parse(read.endedAt)).toBeGreaterThanOrEqual(Date.parse(read.startedAt));
});

test('nobody reads, lists or cancels the jobs of another tenant', async () => {
  const { body } = await answer(post(chat()));
  const url = `/v1/jobs/${body.id}`;
  const never = `/v1/jobs/${body.id.replace(/^./, '7')}`;
  for (const method of ['GET', 'DELETE'] as const) {
    const foreign = await app.inject(as('small', { method, url }));
    const unknown = await app.inject(as('small', { method, url: never }));
    expect(foreign.statusCode).toBe(404);
    expect(foreign.body, 'it looks like one that never was').toBe(unknown.body);
  }
  expect((await answer(as('small', { url: '/v1/jobs?type=chat&state=waiting' }))).body.jobs).toEqual([]);
  expect((await answer(as('admin', { url: `${url}?tenant=acme` }))).body.id).toBe(body.id);
});

describe('a job with an idempotency key', () => {
  const keyed = (data: object) => post(chat(data), { 'idempotency-key': 'once' });

  test('is stored once, however often it is posted', async () => {
    const [first, second] = await Promise.all([answer(keyed({ n: 1 })), answer(keyed({ n: 1 }))]);
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(first.body.id).toBe(second.body.id);
    expect([first.headers, second.headers].filter((headers) => headers['idempotent-replayed'] === 'true')).toHaveLength(
      1,
    );
    expect((await answer(as('acme', { url: '/v1/limits?type=chat' }))).body.limits[0].waiting).toBe(1);
  });

  test('is refused with another payload', async () => {
    await answer(keyed({ n: 1 }));
    expect(problemIn(await app.inject(keyed({ n: 2 })))).toMatchObject({ status: 422, code: 'idempotency_mismatch' });
  });

  test('belongs to its tenant: another one has the key for itself', async () => {
    const first = await answer(keyed({ n: 1 }));
    const payload = { ...chat({ n: 2 }), tenant: 'other' };
    const headers = { 'idempotency-key': 'once' };
    const second = await answer(as('admin', { method: 'POST', url: '/v1/jobs', payload, headers }));
    expect(second.status).toBe(202);
    expect(second.body.id).not.toBe(first.body.id);
  });
});

describe('a bucket', () => {
  const small = (payload: object) => as('small', { method: 'POST', url: '/v1/jobs', payload });

  test('that is full says when the next place is free, in seconds that are never early', async () => {
    for (const n of [1, 2]) expect((await answer(small(chat({ n })))).status).toBe(202);
    const full = await app.inject(small(chat({ n: 3 })));
    const problem = problemIn(full);
    expect(problem).toMatchObject({ status: 429, code: 'bucket_full', retryAfterMs: expect.any(Number) });
    expect(Number(full.headers['retry-after']) * 1000).toBeGreaterThanOrEqual(Number(problem.retryAfterMs));
    expect(full.headers).toMatchObject({ ratelimit: expect.stringMatching(/^"depth";r=0;t=\d+$/) });
    expect((await answer(as('small', { url: '/v1/limits?type=chat' }))).body.limits[0].freePlaces).toBe(0);
  });

  test('takes a prefix of a batch', async () => {
    const payload = { jobs: [chat({ n: 1 }), chat({ n: 2 }), chat({ n: 3 })] };
    const { body } = await answer(as('small', { method: 'POST', url: '/v1/jobs/batch', payload }));
    expect(body).toMatchObject({ admitted: 2, rejected: 1 });
    expect(body.jobs[2].problem).toMatchObject({ code: 'bucket_full' });
  });

  test('takes none of a batch with a malformed item', async () => {
    const payload = { jobs: [chat(), { ...chat(), priority: 10 }] };
    const response = await app.inject(as('small', { method: 'POST', url: '/v1/jobs/batch', payload }));
    expect(problemIn(response)).toMatchObject({ status: 400, field: 'jobs[1].priority' });
    expect((await answer(as('small', { url: '/v1/limits?type=chat' }))).body.limits[0].waiting).toBe(0);
  });

  test('takes a thousand jobs in one batch', async () => {
    const payload = { jobs: Array.from({ length: 1000 }, (_, n) => chat({ n })) };
    const { body } = await answer(as('acme', { method: 'POST', url: '/v1/jobs/batch', payload }));
    expect(body).toMatchObject({ admitted: 1000, rejected: 0 });
    // 5 a second: the thousandth starts 999 intervals after the first, which waits for a worker, within the slack, while
    // those behind it are let in.
    expect(body.jobs[0]).toMatchObject({ position: 1, waitMs: 0, basis: 'rate' });
    expect(body.jobs[999]).toMatchObject({ position: 1000 });
    expect(body.jobs[999].waitMs).toBeLessThanOrEqual(199_800);
    expect(body.jobs[999].waitMs).toBeGreaterThanOrEqual(199_700);
  });
});

test('the promised times behind a running job move as its cost is corrected, up and down', async () => {
  const before = Date.now();
  await answer(post(chat()));
  const { token } = await dispatched();
  const startedBy = Date.now();
  const behind = [await answer(post(chat())), await answer(post(chat()))];
  /** A cost of so many units, at 5 a second, and the time after the start at which each job behind it is said to start. */
  const expectStarts = async (cost: number, ms: readonly number[]) => {
    await work.charge(token, cost);
    for (const [i, each] of behind.entries()) {
      const read = await answer(as('acme', { url: String(each.headers.location) }));
      expect(read.body).toMatchObject({ position: i + 1, basis: 'rate' });
      const releaseAt = Date.parse(read.body.releaseAt);
      expect(releaseAt).toBeGreaterThanOrEqual(before + (ms[i] ?? Number.NaN) - 1);
      expect(releaseAt).toBeLessThanOrEqual(startedBy + (ms[i] ?? Number.NaN) + 1);
    }
  };
  await expectStarts(500, [100_000, 100_200]);
  await expectStarts(1000, [200_000, 200_200]);
  await expectStarts(300, [60_000, 60_200]);
  const quoted = await answer(as('acme', { url: '/v1/quote?type=chat' }));
  expect(Date.parse(quoted.body.startAt)).toBeGreaterThanOrEqual(before + 60_400 - 1);
  expect(Date.parse(quoted.body.startAt)).toBeLessThanOrEqual(startedBy + 60_400 + 1);
});

test('a startBy that has passed is refused, one that cannot be met says what could be', async () => {
  const past = problemIn(await app.inject(post({ ...chat(), startBy: '2020-01-01T00:00:00Z' })));
  expect(past).toMatchObject({ status: 400, code: 'deadline_past', field: 'startBy' });
  const startBy = new Date(Date.now() + 60_000).toISOString();
  const late = problemIn(await app.inject(post({ ...chat(), delayMs: 120_000, startBy })));
  expect(late).toMatchObject({ status: 409, code: 'deadline_unreachable', field: 'startBy' });
  expect(Date.parse(String(late.earliestStartAt))).toBeGreaterThan(Date.parse(startBy));
});

test('a list goes through all jobs of a state, a page at a time, oldest first', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) ids.push((await answer(post(chat({ n })))).body.id);
  const seen: string[] = [];
  let cursor = '';
  do {
    const { body } = await answer(as('acme', { url: `/v1/jobs?type=chat&state=waiting&limit=2${cursor}` }));
    seen.push(...body.jobs.map(({ id }: { id: string }) => id));
    cursor = body.cursor === undefined ? '' : `&cursor=${encodeURIComponent(body.cursor)}`;
  } while (cursor !== '');
  expect(seen).toEqual(ids);
});

test.each(['1~x', '-5~x', '1e3~x', '1E+999~~', '0.5~{}'])(
  'a cursor that nobody gave out is harmless: %s',
  async (cursor) => {
    await answer(post(chat()));
    for (const state of ['waiting', 'delayed', 'active', 'completed', 'failed', 'expired', 'cancelled']) {
      const url = `/v1/jobs?type=chat&state=${state}&cursor=${encodeURIComponent(cursor)}`;
      expect((await answer(as('acme', { url }))).status).toBe(200);
    }
  },
);

describe('DELETE', () => {
  test('cancels what waits, asks what runs, and leaves what has ended', async () => {
    const running = (await answer(post(chat({ n: 1 })))).body.id;
    const waiting = (await answer(post(chat({ n: 2 })))).body.id;
    const held = await dispatched();
    const cancel = (id: string) => answer(as('acme', { method: 'DELETE', url: `/v1/jobs/${id}` }));

    expect(await cancel(waiting)).toMatchObject({ status: 200, body: { id: waiting, state: 'cancelled' } });
    expect(await cancel(waiting)).toMatchObject({ status: 409, body: { code: 'already_ended' } });
    expect(await cancel(running)).toMatchObject({ status: 202, body: { id: running, cancelRequested: true } });
    expect((await answer(as('acme', { url: `/v1/jobs/${running}` }))).body.cancelRequested).toBe(true);
    await work.settle(held, { kind: 'completed', value: '1' });
    expect(await cancel(running)).toMatchObject({ status: 409, body: { code: 'already_ended' } });
    const cancelled = await answer(as('acme', { url: '/v1/jobs?type=chat&state=cancelled' }));
    expect(cancelled.body.jobs.map(({ id }: { id: string }) => id)).toEqual([waiting]);
  });
});

test.each(['__proto__', 'constructor', 'a:b', '{a}', 'a*', '😀', 'é', 'e\u0301', ' ', '%2F', '\u0000'])(
  'a tenant called %j has a bucket of its own',
  async (tenant) => {
    const payload = { ...chat(), tenant };
    const posted = await answer(as('admin', { method: 'POST', url: '/v1/jobs', payload }));
    expect(posted).toMatchObject({ status: 202, body: { tenant, position: 1 } });
    const query = new URLSearchParams({ tenant, type: 'chat', state: 'waiting' });
    const list = await answer(as('admin', { url: `/v1/jobs?${query}` }));
    expect(list.body.jobs).toEqual([expect.objectContaining({ id: posted.body.id, tenant })]);
  },
);

test('types and limits are read from what is there', async () => {
  await answer(post(chat()));
  const types = (await answer(as('admin', { url: '/v1/types?tenant=acme' }))).body.types;
  expect(types[1]).toMatchObject({ type: 'chat', backloggedBuckets: 1, running: 0 });
  const { limits } = (await answer(as('acme', { url: '/v1/limits' }))).body;
  expect(limits.map(({ type, waiting }: { type: string; waiting: number }) => [type, waiting])).toEqual([
    ['ocr', 0],
    ['chat', 1],
    ['llm', 0],
  ]);
});

describe('runAt', () => {
  test('is when a job joins its queue, and a repetition under the same idempotency key is the same job', async () => {
    const runAt = new Date(Date.now() + 3_600_000).toISOString();
    const key = { 'idempotency-key': 'k' };
    const first = await answer(post({ ...chat(), runAt }, key));
    expect(first.body).toMatchObject({ state: 'delayed', position: null, releaseAt: runAt, basis: 'delay' });
    const again = await answer(post({ ...chat(), runAt }, key));
    expect(again.body).toMatchObject({ id: first.body.id, releaseAt: runAt });
    expect(again.headers['idempotent-replayed']).toBe('true');
    const other = await answer(post({ ...chat(), runAt: '2030-01-01T00:00:00Z' }, key));
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_mismatch']);
  });

  test('that has passed is now, also in a batch', async () => {
    const jobs = [{ ...chat(), runAt: '2020-01-01T00:00:00Z' }];
    const { body } = await answer({ ...post({ jobs }), url: '/v1/jobs/batch' });
    expect(body.jobs).toMatchObject([{ verdict: 'admitted', state: 'waiting', position: 1 }]);
  });

  test('beside delayMs is refused, with the place of the item', async () => {
    const jobs = [chat(), { ...chat(), delayMs: 5, runAt: '2030-01-01T00:00:00Z' }];
    const { status, body } = await answer({ ...post({ jobs }), url: '/v1/jobs/batch' });
    expect([status, body.code, body.field]).toEqual([400, 'invalid_field', 'jobs[1].runAt']);
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { type LiveApp, liveApp } from './support/live-app.js';
import { remoteWork, type TestRemoteWork } from './support/remote-work.js';
import { KEYS } from './support/test-config.js';

const YAML = `
lockDuration: 1s
stalledInterval: 1s
types:
  chat: { attempts: 2, backoff: { type: fixed, delay: 1ms }, timeout: 60s }
  short: { attempts: 1, timeout: 1ms }
  capped: { capacity: { concurrency: 1 } }
  own: { handler: echo }
  words: {}
tiers: { pro: { rate: unlimited, depth: 1000, concurrency: 100 } }
defaultTier: pro
tenants: { acme: { tier: pro }, small: { tier: pro, weight: 3 } }
`;

let server: TestRedis;
let live: LiveApp;
let remote: TestRemoteWork;
let url: string;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(async () => {
  await server.flush();
  remote = await remoteWork(server.socketPath, YAML);
  live = await liveApp(server.socketPath, YAML, { remote: remote.work });
  url = await live.app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  await live.close();
  await remote.close();
});

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown> & Record<string, never>;
}

async function ask(
  path: string,
  body: object,
  key: keyof typeof KEYS = 'worker',
  signal?: AbortSignal,
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEYS[key]}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}
const claim = (type = 'chat', more: object = {}) => ask('/v1/workers/claim', { type, waitMs: 10_000, ...more });
const say = (verb: string, { id, tenant, claim }: Answer['body'], said: object = {}) =>
  ask(`/v1/workers/${verb}`, { id, tenant, claim, ...said });

async function post(data: object = {}, more: object = {}, tenant: 'acme' | 'small' = 'acme'): Promise<string> {
  const { status, body } = await live.ask('POST', '/v1/jobs', { type: 'chat', data, ...more }, tenant);
  expect(status).toBe(202);
  return String(body.id);
}
const read = async (id: string) => (await live.ask('GET', `/v1/jobs/${id}`, undefined, 'acme')).body;

test('a job is claimed, kept, followed and completed', async () => {
  const id = await post({ question: 'ü' });
  const claimed = await claim();
  expect(claimed).toMatchObject({
    status: 200,
    body: { id, type: 'chat', tenant: 'acme', data: { question: 'ü' }, attempt: 1, cost: 1, lockMs: 1000 },
  });
  const run = claimed.body;
  expect(await say('progress', run, { progress: { part: 1 } })).toEqual({ status: 200, body: { id, state: 'held' } });
  expect((await say('emit', run, { first: 1, chunks: ['a', { b: 1 }] })).status).toBe(200);
  expect((await say('charge', run, { cost: 2.5 })).status).toBe(200);
  expect((await ask('/v1/workers/heartbeat', { runs: [{ id, tenant: 'acme', claim: run.claim }] })).body).toEqual({
    runs: [{ id, claim: run.claim, state: 'held' }],
  });
  expect(await read(id)).toMatchObject({ state: 'active', progress: { part: 1 }, cost: 2.5 });
  expect(await say('complete', run, { result: [1] })).toEqual({ status: 200, body: { id, state: 'settled' } });
  expect(await read(id)).toMatchObject({ state: 'completed', result: [1], attempts: 1 });
  expect(remote.ended).toMatchObject([{ job: { id }, outcome: { kind: 'completed' }, verdict: 'settled' }]);
});

test('a claim that waits is answered when a job comes, and one that waits in vain with nothing', async () => {
  expect((await claim('chat', { waitMs: 0 })).status).toBe(204);
  const waiting = claim();
  await eventually(async () => expect(await post()).toBeDefined());
  expect((await waiting).status).toBe(200);
});

test('what is sent again is answered the same, and done once', async () => {
  const id = await post();
  const own = randomUUID();
  const [first, second] = [await claim('chat', { claim: own }), await claim('chat', { claim: own })];
  expect(second.body).toEqual(first.body);
  for (let i = 0; i < 2; i += 1) expect((await say('emit', first.body, { first: 1, chunks: ['x'] })).status).toBe(200);
  expect(await say('complete', first.body)).toEqual(await say('complete', first.body));
  expect((await say('fail', first.body, { error: 'late' })).status).toBe(200);
  expect(await read(id)).toMatchObject({ state: 'completed', result: null, attempts: 1 });
});

describe('a run that fails', () => {
  test('is tried again as its type says, and then is over', async () => {
    const id = await post();
    const first = await claim();
    expect((await say('fail', first.body, { error: 'no luck' })).body).toEqual({ id, state: 'settled' });
    const second = await claim();
    expect(second.body).toMatchObject({ id, attempt: 2 });
    await say('fail', second.body, { error: 'no luck either' });
    expect(await read(id)).toMatchObject({ state: 'failed', attempts: 2, error: 'no luck either' });
  });

  test('for good has no other attempt', async () => {
    const id = await post();
    await say('fail', (await claim()).body, { error: 'never', final: true });
    expect(await read(id)).toMatchObject({ state: 'failed', attempts: 1 });
  });

  test('because its upstream is busy holds its bucket and uses no attempt', async () => {
    const id = await post();
    await say('fail', (await claim()).body, { error: 'busy', retryAfterMs: 60_000 });
    expect(await read(id)).toMatchObject({ state: 'waiting', attempts: 0 });
    expect((await claim('chat', { waitMs: 0 })).status).toBe(204);
  });

  test('by its time being up is told so, and says nothing any more', async () => {
    const { body } = await live.ask('POST', '/v1/jobs', { type: 'short', data: {} }, 'acme');
    const run = (await claim('short')).body;
    const runs = [{ id: run.id, tenant: 'acme', claim: run.claim }];
    await eventually(async () =>
      expect((await ask('/v1/workers/heartbeat', { runs })).body).toMatchObject({
        runs: [{ state: 'stop', reason: 'timeout' }],
      }),
    );
    expect(await read(String(body.id))).toMatchObject({ state: 'failed', error: 'timed out after 1 ms' });
    expect((await say('complete', run)).body).toMatchObject({ code: 'run_lost' });
    expect((await read(String(body.id))).state).toBe('failed');
  });
});

test('a job that is given back is as if it had not run, and one that was cancelled ends', async () => {
  const id = await post();
  await say('release', (await claim()).body);
  expect(await read(id)).toMatchObject({ state: 'waiting', attempts: 0 });
  const again = await claim();
  expect(again.body).toMatchObject({ id, attempt: 1 });
  expect((await live.ask('DELETE', `/v1/jobs/${id}`, undefined, 'acme')).status).toBe(202);
  const runs = [{ id, tenant: 'acme', claim: again.body.claim }];
  expect((await ask('/v1/workers/heartbeat', { runs })).body).toMatchObject({
    runs: [{ state: 'stop', reason: 'cancelled' }],
  });
  await say('release', again.body);
  expect((await read(id)).state).toBe('cancelled');
});

test('a key that is bound to types takes and ends their jobs, and no others', async () => {
  const forbidden = (field: string) => ({
    status: 403,
    body: { code: 'type_forbidden', field, detail: expect.stringContaining('This key is for jobs of words') },
  });
  await post();
  const bound = (verb: string, body: object) => ask(`/v1/workers/${verb}`, body, 'wordsWorker');
  for (const type of ['chat', 'own', 'nothing']) {
    expect(await bound('claim', { type, waitMs: 0 })).toMatchObject(forbidden('type'));
  }
  const run = (await claim()).body;
  const named = { id: run.id, tenant: run.tenant, claim: run.claim };
  expect(await bound('complete', { ...named, result: 1 })).toMatchObject(forbidden('id'));
  expect(await bound('heartbeat', { runs: [named] })).toMatchObject(forbidden('runs[0].id'));
  const { body } = await live.ask('POST', '/v1/jobs', { type: 'words', data: {} }, 'acme');
  const own = (await bound('claim', { type: 'words', waitMs: 10_000 })).body;
  expect(own.id).toBe(body.id);
  const ended = { id: own.id, tenant: own.tenant, claim: own.claim, result: 2 };
  expect((await bound('complete', ended)).body).toMatchObject({ state: 'settled' });
  expect(await read(String(body.id))).toMatchObject({ state: 'completed', result: 2 });
});

test('a worker that falls silent loses its run, and another has the job', async () => {
  const id = await post();
  const lost = await claim();
  const taken = await claim();
  expect(taken.body).toMatchObject({ id });
  expect(taken.body.claim).not.toBe(lost.body.claim);
  expect((await say('complete', lost.body, { result: 'late' })).body).toMatchObject({ code: 'run_lost', status: 409 });
  const runs = [{ id, tenant: 'acme', claim: lost.body.claim }];
  expect((await ask('/v1/workers/heartbeat', { runs })).body).toMatchObject({ runs: [{ state: 'lost' }] });
  await say('complete', taken.body, { result: 'mine' });
  expect((await read(id)).result).toBe('mine');
});

test('caps hold for workers elsewhere', async () => {
  const posted = () => live.ask('POST', '/v1/jobs', { type: 'capped', data: {} }, 'acme');
  await Promise.all([posted(), posted()]);
  const first = await claim('capped');
  expect((await claim('capped', { waitMs: 0 })).status).toBe(204);
  const waiting = claim('capped');
  await say('complete', first.body);
  expect((await waiting).status).toBe(200);
});

test('workers elsewhere serve tenants by their weights', async () => {
  for (let i = 0; i < 16; i += 1) await post({}, {}, 'acme');
  for (let i = 0; i < 16; i += 1) await post({}, {}, 'small');
  const served = [];
  for (let i = 0; i < 16; i += 1) served.push((await claim()).body.tenant);
  expect(served.filter((tenant) => tenant === 'small')).toHaveLength(12);
});

test('a claim whose caller has left takes no job', async () => {
  const leaving = new AbortController();
  const left = ask('/v1/workers/claim', { type: 'chat', waitMs: 60_000 }, 'worker', leaving.signal);
  const chat = remote.work.type('chat');
  await eventually(() => expect(chat?.waiting).toBe(1));
  leaving.abort();
  await expect(left).rejects.toThrow();
  await eventually(() => expect(chat?.waiting).toBe(0));
  const id = await post();
  expect((await claim()).body).toMatchObject({ id });
});

describe('keys', () => {
  test.each(['acme', 'gateway'] as const)('%s’s key claims nothing', async (key) => {
    await post();
    expect((await ask('/v1/workers/claim', { type: 'chat', waitMs: 0 }, key)).body).toMatchObject({
      code: 'worker_only',
      status: 403,
      field: 'Authorization',
    });
  });

  test('a worker’s key opens nothing else', async () => {
    const { status, body } = await ask('/v1/jobs', { type: 'chat', data: {}, tenant: 'acme' });
    expect([status, body.code]).toEqual([401, 'invalid_key']);
  });

  test('of others do not reach a run', async () => {
    await post();
    const { id, tenant, claim: own } = (await claim()).body;
    expect((await ask('/v1/workers/complete', { id, tenant, claim: own }, 'admin')).status).toBe(409);
    expect((await ask('/v1/workers/heartbeat', { runs: [{ id, tenant, claim: own }] }, 'admin')).body).toMatchObject({
      runs: [{ state: 'lost' }],
    });
  });
});

const RUN = { id: '01kcb6v0xk3t4m5n6p7q8r9s0t.chat.0', tenant: 'acme', claim: 'c'.repeat(16) };
test.each([
  ['claim', {}, 400, 'missing_field', 'type'],
  ['claim', { type: 'chatt' }, 400, 'unknown_type', 'type'],
  ['claim', { type: 'own' }, 400, 'unknown_type', 'type'],
  ['claim', { type: 'chat', claim: 'short' }, 400, 'invalid_field', 'claim'],
  ['claim', { type: 'chat', waitMs: 60_001 }, 400, 'invalid_field', 'waitMs'],
  ['claim', { type: 'chat', wait: 1 }, 400, 'unknown_field', 'wait'],
  ['heartbeat', { runs: [] }, 400, 'invalid_field', 'runs'],
  ['heartbeat', { runs: [{ ...RUN, id: 'x' }] }, 400, 'invalid_field', 'runs[0].id'],
  ['complete', { ...RUN, id: 'x' }, 400, 'invalid_field', 'id'],
  ['complete', { ...RUN, id: RUN.id.replace('chat', 'own') }, 400, 'unknown_type', 'id'],
  ['complete', { ...RUN, result: 'x'.repeat(1024 * 1024) }, 413, 'output_too_large', 'result'],
  ['complete', RUN, 409, 'run_lost', undefined],
  ['fail', { ...RUN, error: '' }, 400, 'invalid_field', 'error'],
  ['fail', { ...RUN, error: 'e', scope: 'type' }, 400, 'invalid_field', 'scope'],
  ['charge', { ...RUN, cost: 0 }, 400, 'invalid_field', 'cost'],
  ['emit', { ...RUN, first: 0, chunks: ['a'] }, 400, 'invalid_field', 'first'],
  ['emit', { ...RUN, first: 1, chunks: ['a', 'x'.repeat(65_536)] }, 413, 'output_too_large', 'chunks[1]'],
  ['progress', RUN, 400, 'missing_field', 'progress'],
] as const)('%s, told what is wrong (%#)', async (verb, body, status, code, field) => {
  const answer = await ask(`/v1/workers/${verb}`, body);
  expect([answer.status, answer.body.code, answer.body.field]).toEqual([status, code, field]);
});

test('a run emits a megabyte and no more', async () => {
  await post();
  const run = (await claim()).body;
  const chunks = Array.from({ length: 15 }, () => 'x'.repeat(65_000));
  expect((await say('emit', run, { first: 1, chunks })).status).toBe(200);
  expect((await say('emit', run, { first: 16, chunks })).body).toMatchObject({
    code: 'output_too_large',
    field: 'chunks',
  });
  expect((await say('emit', run, { first: 1, chunks })).status, 'what was stored already').toBe(200);
});

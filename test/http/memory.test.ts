import { expect, test } from 'vitest';
import type { MemoryState } from '../../src/redis/memory-watch.js';
import { RedisUnavailable } from '../../src/redis/outage.js';
import { scriptedShaping } from './support/scripted-shaping.js';
import { as, post, problemIn, testApp } from './support/test-app.js';

const HIGH: MemoryState = { kind: 'high', usedBytes: 2, markBytes: 1 };
const JOB = { type: 'chat', data: {} };
const batch = (...jobs: object[]) => as('acme', { method: 'POST', url: '/v1/jobs/batch', payload: { jobs } });

async function appIn(state: MemoryState, knows?: (key: string) => boolean) {
  const { shaping, admits } = scriptedShaping();
  const known =
    knows === undefined
      ? {}
      : { knows: async (_type: string, _tenant: string, keys: readonly string[]) => keys.map(() => knows('')) };
  const { app } = await testApp({ shaping: { ...shaping, ...known }, memory: () => state, random: () => 0.5 });
  return { app, admits };
}

test.each<[MemoryState, string]>([
  [HIGH, 'memory_full'],
  [{ kind: 'evicts', policy: 'allkeys-lru' }, 'store_evicts'],
])('a job is answered 503 with a time to come back, and nothing is stored: %o', async (state, code) => {
  const { app, admits } = await appIn(state);
  for (const request of [post(JOB), batch(JOB, JOB)]) {
    const response = await app.inject(request);
    expect(problemIn(response)).toMatchObject({ status: 503, code, retryAfterMs: 10_000 });
    expect(response.headers['retry-after']).toBe('10');
  }
  expect(admits).toEqual([]);
});

test('mistakes are told all the same, and reads answered', async () => {
  const { app } = await appIn(HIGH);
  expect((await app.inject(post({ type: 'nope', data: {} }))).statusCode).toBe(400);
  expect((await app.inject(as('acme', { url: '/v1/types' }))).statusCode).toBe(200);
});

test('a repeated job has its answer: it takes no room', async () => {
  const { app, admits } = await appIn(HIGH, () => true);
  expect((await app.inject(post(JOB, { 'idempotency-key': 'k' }))).statusCode).toBe(202);
  expect((await app.inject(batch({ ...JOB, idempotencyKey: 'k' }))).statusCode).toBe(200);
  expect((await app.inject(post(JOB))).statusCode, 'one without a key is new').toBe(503);
  expect((await app.inject(batch({ ...JOB, idempotencyKey: 'k' }, JOB))).statusCode).toBe(503);
  expect(admits).toHaveLength(2);
});

test('where nobody can tell whether it is repeated, it is refused', async () => {
  const { app } = await appIn(HIGH, () => {
    throw new RedisUnavailable('away');
  });
  expect((await app.inject(post(JOB, { 'idempotency-key': 'k' }))).statusCode).toBe(503);
});

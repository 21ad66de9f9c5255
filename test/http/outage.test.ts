import type { InjectOptions } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { closeConnection, openConnection, untilReady } from '../../src/redis/connection.js';
import { configSettings } from '../../src/shaping/config-settings.js';
import { RedisShaping } from '../../src/shaping/redis-shaping.js';
import { startRedis, type TestRedis, type TestRedisOptions } from '../support/redis-server.js';
import { as, post, problemIn, testApp } from './support/test-app.js';
import { testConfig } from './support/test-config.js';

const endings: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function started(options: TestRedisOptions = {}): Promise<TestRedis> {
  const server = await startRedis(options);
  endings.push(() => server.stop());
  return server;
}

/** The app on a Redis that a test may take away. */
async function appOn(server: TestRedis, deadlineMs: number) {
  const redis = openConnection({ socketPath: server.socketPath }, { name: 'test', deadlineMs });
  endings.push(() => closeConnection(redis));
  await untilReady(redis);
  const { app, logged } = await testApp({ shaping: new RedisShaping(redis, configSettings(await testConfig())) });
  endings.push(() => app.close());
  return { app, logged };
}

const JOB = { type: 'chat', data: {} };
const ID = '01m8mderehyt2wrpdcvfkfdhj7.chat.0';

/** Everything that asks Redis. */
const REQUESTS: readonly InjectOptions[] = [
  post(JOB),
  as('acme', { method: 'POST', url: '/v1/jobs/batch', payload: { jobs: [JOB] } }),
  as('acme', { url: '/v1/jobs?type=chat&state=waiting' }),
  as('acme', { url: `/v1/jobs/${ID}` }),
  as('acme', { method: 'DELETE', url: `/v1/jobs/${ID}` }),
  as('acme', { url: '/v1/limits' }),
  as('admin', { url: '/v1/types?tenant=acme' }),
];

test('while Redis is away everything that needs it is answered 503, and afterwards it works again', async () => {
  const server = await started();
  const { app, logged } = await appOn(server, 2000);
  await server.kill();
  for (const request of REQUESTS) {
    const response = await app.inject(request);
    expect(problemIn(response)).toMatchObject({ status: 503, code: 'redis_unavailable' });
    expect(response.headers['retry-after']).toBe('1');
  }
  expect((await app.inject(as('acme', { url: '/v1/types' }))).statusCode, 'types stand in the configuration').toBe(200);
  expect((await app.inject(post({ type: 'nope', data: {} }))).statusCode, 'mistakes are told all the same').toBe(400);
  expect(logged.filter(({ level }) => level === 50)).toEqual([]);

  await started({ dir: server.dir });
  await expect.poll(async () => (await app.inject(post(JOB))).statusCode).toBe(202);
});

test('a Redis that is there and does not answer is given up after the deadline', async () => {
  const server = await started();
  const { app } = await appOn(server, 100);
  process.kill(server.pid, 'SIGSTOP');
  endings.push(() => void process.kill(server.pid, 'SIGCONT'));
  for (const request of REQUESTS) expect((await app.inject(request)).statusCode).toBe(503);
});

test('a job whose answer was lost can be asked for by the id in the refusal', async () => {
  const server = await started();
  const { app } = await appOn(server, 1000);
  await expect.poll(async () => (await app.inject(post(JOB))).statusCode).toBe(202);
  // Redis knows the script by now, so the command that arrives is carried out once the server runs again.
  process.kill(server.pid, 'SIGSTOP');
  const lost = problemIn(await app.inject(post(JOB)));
  process.kill(server.pid, 'SIGCONT');
  await expect
    .poll(async () => (await app.inject(as('acme', { url: `/v1/jobs/${lost.id}` }))).json())
    .toMatchObject({ id: lost.id, state: 'waiting' });
});

test('a Redis without memory refuses jobs as `memory_full`, one alone or many, and goes on answering questions', async () => {
  const server = await started();
  const { app, logged } = await appOn(server, 2000);
  expect((await app.inject(as('acme', { url: `/v1/jobs/${ID}` }))).statusCode).toBe(404);
  await server.client().config('SET', 'maxmemory', '1');
  const jobs = Array.from({ length: 60 }, (_, i) => ({ ...JOB, type: i < 55 ? 'chat' : 'llm' }));
  const batch = as('acme', { method: 'POST', url: '/v1/jobs/batch', payload: { jobs } });
  for (const request of [post(JOB), batch]) {
    const response = await app.inject(request);
    expect(problemIn(response)).toMatchObject({ status: 503, code: 'memory_full', retryAfterMs: 5000 });
    expect(problemIn(response), 'nothing is in doubt').not.toHaveProperty('ids');
  }
  expect((await app.inject(as('acme', { url: `/v1/jobs/${ID}` }))).statusCode).toBe(404);
  const waiting = await app.inject(as('acme', { url: '/v1/jobs?type=chat&state=waiting' }));
  expect(waiting.json()).toMatchObject({ jobs: [] });
  expect(logged.filter(({ level }) => level === 50)).toEqual([]);
});

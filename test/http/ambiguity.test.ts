import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { closeConnection, openConnection, untilReady } from '../../src/redis/connection.js';
import { configSettings } from '../../src/shaping/config-settings.js';
import { RedisShaping } from '../../src/shaping/redis-shaping.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { type Direction, startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { as, post, problemIn, testApp } from './support/test-app.js';
import { testConfig } from './support/test-config.js';

const JOB = { type: 'chat', data: { n: 1 } };
/** Long enough for a Redis on a busy machine. */
const DEADLINE_MS = 1000;

let server: TestRedis;
let proxy: TcpProxy;
let app: Awaited<ReturnType<typeof testApp>>['app'];
const endings: (() => Promise<void> | void)[] = [];
beforeEach(async () => {
  server = await startRedis();
  proxy = await startTcpProxy(server.socketPath);
  const redis = openConnection({ url: proxy.url }, { name: 'test', deadlineMs: DEADLINE_MS });
  endings.push(
    () => server.stop(),
    () => proxy.stop(),
    () => closeConnection(redis),
  );
  await untilReady(redis);
  ({ app } = await testApp({ shaping: new RedisShaping(redis, configSettings(await testConfig())) }));
  endings.push(() => app.close());
  // Redis knows the scripts from here on, so that one request is one command.
  await expect.poll(async () => (await app.inject(post({ type: 'chat', data: {} }))).statusCode).toBe(202);
});
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** A job that was sent, and whose answer never came: Redis heard of it or not, and then the connection died. */
async function unanswered(lost: Direction, headers: Record<string, string> = {}): Promise<string> {
  proxy.swallow(lost);
  const problem = problemIn(await app.inject(post(JOB, headers)));
  expect(problem).toMatchObject({ status: 503, code: 'redis_unavailable' });
  proxy.cut();
  await proxy.pass();
  return String(problem.id);
}

const look = async (id: string) => app.inject(as('acme', { url: `/v1/jobs/${id}` }));
const statusOf = (id: string) => expect.poll(async () => (await look(id)).statusCode);
async function waiting(): Promise<number> {
  const answer = await app.inject(as('acme', { url: '/v1/jobs?type=chat&state=waiting' }));
  return answer.json().jobs.length;
}

describe('a job whose answer was lost with the connection', () => {
  test('is there under the id in the refusal, when Redis had heard of it', async () => {
    const id = await unanswered('replies');
    await statusOf(id).toBe(200);
    expect((await look(id)).json()).toMatchObject({ id, state: 'waiting' });
    expect(await waiting()).toBe(2);
  });

  test('is not there when it had not', async () => {
    const id = await unanswered('requests');
    await statusOf(id).toBe(404);
    expect(await waiting()).toBe(1);
  });

  test.each(['replies', 'requests'] as const)(
    'sent again under its key is one job, whatever was lost: the %s',
    async (lost) => {
      const headers = { 'idempotency-key': 'once' };
      const before = await unanswered(lost, headers);
      await expect.poll(async () => (await app.inject(post(JOB, headers))).statusCode).toBe(202);
      const again = await app.inject(post(JOB, headers));
      expect(again.statusCode).toBe(202);
      expect(again.headers['idempotent-replayed']).toBe('true');
      if (lost === 'replies') expect(again.json().id).toBe(before);
      else expect(again.json().id).not.toBe(before);
      expect(await waiting()).toBe(2);
    },
  );
});

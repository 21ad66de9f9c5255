import { afterEach, expect, test } from 'vitest';
import { openPolicing } from '../../src/policing/open-policing.js';
import { closeConnection, openConnection, untilReady } from '../../src/redis/connection.js';
import { configSettings } from '../../src/shaping/config-settings.js';
import { RedisShaping } from '../../src/shaping/redis-shaping.js';
import { startRedis, type TestRedis, type TestRedisOptions } from '../support/redis-server.js';
import { check, forwarded, policedApp, policedConfig } from './support/policed-app.js';
import { post, problemIn } from './support/test-app.js';

const endings: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function started(options: TestRedisOptions = {}): Promise<TestRedis> {
  const server = await startRedis(options);
  endings.push(() => server.stop());
  return server;
}

/** The app with policies on a Redis that a test may take away. */
async function appOn(server: TestRedis) {
  const redis = openConnection({ socketPath: server.socketPath }, { name: 'test', deadlineMs: 2000 });
  endings.push(() => closeConnection(redis));
  await untilReady(redis);
  const config = await policedConfig();
  const policing = openPolicing({ policies: config.policies, redis });
  endings.push(() => policing.close());
  const { app, logged } = await policedApp(policing, { shaping: new RedisShaping(redis, configSettings(config)) });
  endings.push(() => app.close());
  return { app, logged };
}

type App = Awaited<ReturnType<typeof appOn>>['app'];

const rateLimitHeaders = (headers: object) => Object.keys(headers).filter((name) => name.includes('ratelimit'));

async function expectAway(app: App): Promise<void> {
  const open = await app.inject(check({ policy: 'api' }));
  expect(open.json()).toEqual({
    policy: 'api',
    allowed: true,
    outcome: 'unknown',
    decidedBy: 'open',
    enforced: true,
    retryAfterMs: 0,
  });
  expect(rateLimitHeaders(open.headers)).toEqual([]);

  const closed = await app.inject(check({ policy: 'pay' }));
  expect(problemIn(closed)).toMatchObject({ status: 503, code: 'redis_unavailable', decidedBy: 'closed' });
  expect(Number(closed.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  expect(rateLimitHeaders(closed.headers)).toEqual([]);

  expect((await app.inject(forwarded('?policy=api'))).statusCode).toBe(200);
  expect((await app.inject(forwarded('?policy=pay'))).statusCode).toBe(503);
  const denied = await app.inject(forwarded('?policy=pay&deny=403'));
  expect(denied.statusCode).toBe(403);
  expect(Number(denied.headers['retry-after'])).toBeGreaterThanOrEqual(1);
}

test('while Redis is away every policy does what its onOutage says, and afterwards they count again', async () => {
  const server = await started();
  const { app, logged } = await appOn(server);
  expect((await app.inject(check({ policy: 'tight' }))).statusCode).toBe(200);
  await server.kill();
  await expectAway(app);

  const local = await app.inject(check({ policy: 'tight', key: 'new' }));
  expect(local.json()).toMatchObject({ allowed: true, decidedBy: 'local', limit: 1, remaining: 0 });
  const again = await app.inject(check({ policy: 'tight', key: 'new' }));
  expect(problemIn(again)).toMatchObject({ status: 429, code: 'rate_limited', decidedBy: 'local' });

  const job = await app.inject(post({ type: 'chat', data: {} }));
  expect(problemIn(job), 'an open policy lets the job through to the bucket, which is away').toMatchObject({
    status: 503,
    id: expect.any(String),
  });
  expect((await app.inject(check({ policy: 'api', cost: -1 }))).statusCode, 'mistakes are told all the same').toBe(400);
  expect(logged.filter(({ level }) => level === 50)).toEqual([]);

  await started({ dir: server.dir });
  await expect
    .poll(async () => (await app.inject(check({ policy: 'api' }))).json())
    .toMatchObject({ decidedBy: 'policer', limit: 100 });
});

test('a Redis that is there and does not answer is not waited for longer than the policy says', async () => {
  const server = await started();
  const { app } = await appOn(server);
  process.kill(server.pid, 'SIGSTOP');
  endings.push(() => void process.kill(server.pid, 'SIGCONT'));
  await expectAway(app);
});

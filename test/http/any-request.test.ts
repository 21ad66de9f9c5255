import fc from 'fast-check';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROBLEMS } from '../../src/http/problems.js';
import { openPolicing } from '../../src/policing/open-policing.js';
import type { Policing } from '../../src/policing/policing.js';
import { routeTable } from '../../src/policing/route-table.js';
import { closeConnection, openConnection, untilReady } from '../../src/redis/connection.js';
import { configSettings } from '../../src/shaping/config-settings.js';
import { RedisShaping } from '../../src/shaping/redis-shaping.js';
import { BUCKET_DOUBLES, bucketOf } from '../lua/stored-state.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { policedConfig } from './support/policed-app.js';
import { requestArbitrary } from './support/request-arbitrary.js';
import { testApp } from './support/test-app.js';
import { testConfig } from './support/test-config.js';

let server: TestRedis;
let redis: ReturnType<typeof openConnection>;
let policing: Policing;
let app: FastifyInstance;
const seen = new Map<string, number>();

beforeAll(async () => {
  server = await startRedis();
  redis = openConnection({ socketPath: server.socketPath }, { name: 'test', deadlineMs: 10_000 });
  await untilReady(redis);
  const { policies, routes } = await policedConfig();
  // A busy machine is no outage: with a closed policy, that would be a 503.
  const patient = new Map([...policies].map(([name, policy]) => [name, { ...policy, deadlineMs: 10_000 }]));
  policing = openPolicing({ policies: patient, redis });
  ({ app } = await testApp({
    shaping: new RedisShaping(redis, configSettings(await testConfig())),
    policed: { policing, policies, routes: routeTable(routes) },
  }));
});
afterAll(async () => {
  await app.close();
  await policing.close();
  closeConnection(redis);
  await server.stop();
});

test('any request at all is answered, and what is wrong with it is told in a problem document', async () => {
  await fc.assert(
    fc.asyncProperty(requestArbitrary, async (request) => {
      const response = await app.inject(request);
      expect(response.statusCode).toBeLessThan(500);
      if (request.method === 'HEAD') return;
      if (response.statusCode >= 400) expectProblem(response, isDenied(request, response));
      const outcome = response.statusCode < 400 ? String(response.statusCode) : response.json<{ code: string }>().code;
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
    }),
    { numRuns: 1500 },
  );
});

test('the requests got far enough for that to mean something', () => {
  for (const outcome of [
    ...['200', '202', 'invalid_field', 'unknown_field', 'missing_field'],
    ...['rate_limited', 'cost_exceeds_max', 'unknown_policy', 'invalid_key'],
  ]) {
    expect(seen.get(outcome), outcome).toBeGreaterThan(0);
  }
});

test('no bucket holds a number that is none', async () => {
  const keys = await redis.keys('*:bucket:*');
  expect(keys.length).toBeGreaterThan(0);
  for (const key of keys) {
    const bytes = await redis.getBuffer(key);
    const odd = BUCKET_DOUBLES.filter((name) => Number.isNaN(bucketOf(bytes)(name)));
    expect(odd, key).toEqual([]);
  }
});

test('every limit that was counted expires', async () => {
  const limits = await redis.keys('hg:l:*');
  expect(limits.length).toBeGreaterThan(0);
  for (const key of limits) expect(await redis.pttl(key), key).toBeGreaterThan(0);
});

/** Gateways may ask for 403 in place of what a policy refuses with. */
function isDenied({ url }: InjectOptions, { statusCode }: LightMyRequestResponse): boolean {
  return statusCode === 403 && typeof url === 'string' && /[?&]deny=403/.test(url);
}

function expectProblem(response: LightMyRequestResponse, isDeniedSo: boolean): void {
  expect(response.headers['content-type']).toBe('application/problem+json');
  const problem = response.json<Record<string, unknown>>();
  const kind = Object.entries(PROBLEMS).find(([code]) => code === problem.code)?.[1];
  expect(problem).toMatchObject({ status: response.statusCode, title: kind?.title, detail: expect.any(String) });
  if (!isDeniedSo) expect(kind?.status).toBe(response.statusCode);
  expect(response.body.length, 'no request makes its answer long').toBeLessThan(2000);
  if (response.statusCode === 400) expect(problem.field).toEqual(expect.stringMatching(/./s));
}

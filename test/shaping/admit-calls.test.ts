import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { NewJob } from '../../src/model/verdict.js';
import { watchScripts } from '../../src/redis/script.js';
import { TOGETHER } from '../../src/shaping/admit-calls.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { ShapedType } from './shaped-type.js';

let server: TestRedis;
let redis: Redis;
let type: ShapedType;
let calls: number;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
  watchScripts(redis, (verb) => {
    if (verb === 'admit') calls += 1;
  });
});
afterAll(() => server.stop());
beforeEach(async () => {
  type = new ShapedType(redis);
  await type.work.configure();
  calls = 0;
});

const tenants = (count: number): string[] => Array.from({ length: count }, (_, n) => `tenant ${n}`);

/** What becomes of one job in each of these buckets, all asked for in the same turn. */
function admitAll(buckets: readonly string[], job: Partial<NewJob> = {}) {
  return Promise.allSettled(buckets.map((tenant) => type.shaping.admit(type.name, tenant, [type.newJob(job)])));
}

function verdictsOf(answers: Awaited<ReturnType<typeof admitAll>>): string[] {
  return answers.map(
    (answer) => (answer.status === 'fulfilled' ? answer.value.admissions[0]?.verdict : answer.status) ?? '',
  );
}

test('requests of many tenants that come in one turn are admitted by one call, each as if it were alone', async () => {
  type.profiles.set('full', { depth: 1 });
  await type.fill('full', 1);
  calls = 0;
  const answers = await admitAll(['a', 'full', 'b', 'a']);
  expect(verdictsOf(answers)).toEqual(['admitted', 'rejected', 'admitted', 'admitted']);
  expect(calls).toBe(1);
  expect(answers[3]).toMatchObject({ value: { freePlaces: 998, admissions: [{ promise: { position: 2 } }] } });
});

test('a request that does not fit closes the door for none but its own jobs', async () => {
  type.profiles.set('a', { maxBytes: 100 });
  const large = type.newJob({ data: JSON.stringify('x'.repeat(200)) });
  const [mixed, alone] = await Promise.all([
    type.shaping.admit(type.name, 'a', [large, type.newJob()]),
    type.shaping.admit(type.name, 'a', [type.newJob()]),
  ]);
  expect(mixed.admissions.map(({ verdict }) => verdict)).toEqual(['rejected', 'rejected']);
  expect(alone.admissions.map(({ verdict }) => verdict)).toEqual(['admitted']);
  expect(calls).toBe(1);
});

test('a call takes no more jobs than it may, and large payloads go apart', async () => {
  expect(new Set(verdictsOf(await admitAll(tenants(2 * TOGETHER + 1))))).toEqual(new Set(['admitted']));
  expect(calls).toBe(3);
  calls = 0;
  const large = { data: JSON.stringify('x'.repeat(2_000_000)) };
  expect(verdictsOf(await admitAll(tenants(3), large))).toEqual(['admitted', 'admitted', 'admitted']);
  expect(calls).toBe(3);
});

test('a bucket that Redis will not touch is no reason to turn others away, whose jobs then run', async () => {
  await redis.set(`${type.work.tag}:q:broken:prioritized`, 'no sorted set');
  const answers = await admitAll(['a', 'broken', 'b', 'broken']);
  expect(verdictsOf(answers)).toEqual(['admitted', 'rejected', 'admitted', 'rejected']);
  const failures = answers.filter(({ status }) => status === 'rejected');
  expect(failures).toMatchObject([1, 2].map(() => ({ reason: { message: expect.stringContaining('WRONGTYPE') } })));
  expect([(await type.take()).tenant, (await type.take()).tenant].sort()).toEqual(['a', 'b']);
});

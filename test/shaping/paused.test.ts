import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { acceptedJob, jobResource } from '../../src/http/job-answer.js';
import { encodeTenant } from '../../src/redis/keys.js';
import { runScript } from '../../src/redis/script.js';
import { scripts } from '../../src/shaping/scripts.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { ShapedType } from './shaped-type.js';

let server: TestRedis;
let redis: Redis;
let type: ShapedType;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.stop());
beforeEach(() => {
  type = new ShapedType(redis);
});

const NO_INSTANT = { position: 1, releaseAt: null, waitMs: null, basis: 'capacity' };

/** What HTTP answers to a job that is let in, and to one who reads it. */
async function answers(delayMs = 0) {
  const job = type.newJob({ delayMs });
  const [admitted] = (await type.shaping.admit(type.name, 'a', [job])).admissions;
  if (admitted?.verdict !== 'admitted') throw new Error('not admitted');
  const view = await type.shaping.job('a', job.id);
  if (!view) throw new Error('not found');
  return [acceptedJob({ type: type.name, tenant: 'a', job }, admitted), jobResource(view)];
}

describe.each<[string, () => Promise<unknown>]>([
  ['its rate is 0', async () => type.profiles.set('a', { ratePerSecond: 0 })],
  ['its job rate is 0', async () => type.profiles.set('a', { jobRatePerSecond: 0 })],
  [
    'it was stopped by hand',
    () => runScript(redis, { script: scripts.pause, tag: type.work.tag, argv: ['', encodeTenant('a'), '1'] }),
  ],
])('a bucket that is paused because %s', (_, pause) => {
  test('lets jobs in and promises no instant', async () => {
    await pause();
    for (const answer of await answers()) expect(answer).toMatchObject({ state: 'waiting', ...NO_INSTANT });
  });

  test('tells nobody when its next job starts', async () => {
    await pause();
    await answers();
    expect((await type.shaping.bucket(type.name, 'a')).nextStartMs).toBeNull();
  });

  test('still says that a delay is a lower bound', async () => {
    await pause();
    for (const answer of await answers(60_000)) {
      expect(answer).toMatchObject({ state: 'delayed', basis: 'delay', releaseAt: expect.any(String) });
    }
  });
});

test('a bucket that goes on promises again', async () => {
  type.profiles.set('a', { ratePerSecond: 0 });
  const [id = ''] = await type.fill('a', 1);
  type.profiles.set('a', { ratePerSecond: 5 });
  await type.fill('a', 1);
  expect((await type.shaping.job('a', id))?.promise).toMatchObject({ waitMs: 0, basis: 'rate' });
});

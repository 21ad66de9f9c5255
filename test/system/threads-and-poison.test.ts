import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeTenant, queuePrefix, shardTag } from '../../src/redis/keys.js';
import { parseJobId } from '../../src/shaping/job-id.js';
import { field, textField } from '../referee/json-field.js';
import type { Witness } from '../referee/witness.js';
import type { HeadgateProcess } from '../support/headgate-process.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { ADMIN_KEY, idOf, type RefereedSystem, refereedSystem } from './support/refereed-system.js';
import { runningOf } from './support/running-jobs.js';

const LOCK_MS = 2000;
const BUSY_MS = 60_000;
const TENANT = 'odd';

/** Notes each start in a file, and does what no handler should; in a thread. */
const THREADED = `
import { appendFileSync } from 'node:fs';
export default {
  isolate: true,
  run: async (job: { id: string; data: { do: string; ms: number }; options: { starts: string } }) => {
    appendFileSync(job.options.starts, job.id + '\\n');
    if (job.data.do === 'exit') process.exit(3);
    const until = performance.now() + job.data.ms;
    while (performance.now() < until);
    return { computedMs: job.data.ms };
  },
};`;

const ODD = `
const ring: Record<string, unknown> = {};
ring.ring = ring;
const results: Record<string, unknown> = { flood: 'x'.repeat(50 * 1024 * 1024), ring, count: 10n };
export default { run: async (job: { data: { returns: string } }) => results[job.data.returns] };`;

let redis: TestRedis;
let commands: Redis;
let system: RefereedSystem;
let api: HeadgateProcess;
let worker: HeadgateProcess;
/** Takes back what the first one does not keep locked. */
let watcher: HeadgateProcess;
let witness: Witness;
let starts: string;

beforeAll(async () => {
  redis = await startRedis();
  commands = redis.client();
  const twice = { attempts: 2, backoff: { type: 'fixed', delay: '10ms', max: '10ms' } };
  system = await refereedSystem(
    {
      redis: redis.socketPath,
      lockDuration: `${LOCK_MS}ms`,
      stalledInterval: '200ms',
      types: {
        good: {},
        threaded: { handler: './threaded.ts', timeout: '3m', ...twice },
        broken: { handler: './broken.ts', ...twice },
        odd: { handler: './odd.ts', ...twice },
      },
      tiers: { only: { rate: 'unlimited' } },
      defaultTier: 'only',
    },
    {
      separateClocks: true,
      types: [{ type: 'good', slots: 10 }],
      buckets: [],
      otherwise: { ratePerSecond: null, depth: 1000 },
    },
    { arrivalMs: 1500 },
  );
  const { dir, configFile } = system.folder;
  starts = join(dir, 'starts');
  await writeFile(starts, '');
  await writeFile(join(dir, 'threaded.ts'), THREADED);
  await writeFile(join(dir, 'odd.ts'), ODD);
  await writeFile(join(dir, 'broken.ts'), "throw new Error('no model here');");
  const config = JSON.parse(await readFile(configFile, 'utf8'));
  config.types.threaded.options = { starts };
  await system.folder.configure(config);
  [api, worker, watcher] = await Promise.all([
    system.folder.start('serve'),
    system.folder.start('work'),
    system.folder.start('work', ['--types', 'threaded', '--concurrency', 'threaded=1']),
  ]);
  witness = system.witness(api.url);
}, 120_000);
afterAll(async () => {
  await system?.end();
  await redis?.stop();
});

async function ask(method: string, path: string, body?: object): Promise<unknown> {
  const headers = { authorization: `Bearer ${ADMIN_KEY}`, ...(body && { 'content-type': 'application/json' }) };
  const response = await fetch(`${api.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return response.json();
}
const look = (id: string) => ask('GET', `/v1/jobs/${id}?tenant=${TENANT}`);
const post = async (type: string, data: object, fields: object = {}) =>
  textField(await ask('POST', '/v1/jobs', { type, tenant: TENANT, data, ...fields }), 'id') ?? '';
const startsOf = async (id: string) =>
  (await readFile(starts, 'utf8')).split('\n').filter((line) => line === id).length;

/** Waits for a job's end, with good ones beside it that have to go their way. */
async function endOf(id: string): Promise<unknown> {
  await witness.enqueueBatch(
    'beside',
    Array.from({ length: 3 }, () => ({ type: 'good', cost: 1, data: {} })),
  );
  await witness.followToEnds();
  const end = ['completed', 'failed', 'expired', 'cancelled'];
  await expect
    .poll(async () => end.includes(textField(await look(id), 'state') ?? ''), { timeout: 2 * BUSY_MS, interval: 50 })
    .toBe(true);
  return look(id);
}

describe('a handler in a thread', () => {
  it('computes for a minute, thirty times as long as a lock lasts, and runs once', {
    timeout: 4 * BUSY_MS,
  }, async () => {
    const id = await post('threaded', { ms: BUSY_MS });
    expect(await endOf(id)).toMatchObject({ state: 'completed', attempts: 1, result: { computedMs: BUSY_MS } });
    expect(await startsOf(id)).toBe(1);
    for (const each of [worker, watcher])
      expect(each.said('jobs of a worker that is gone were taken back')).toEqual([]);
  });

  it('may exit: its job fails and says why, and the worker goes on', async () => {
    const beside = await post('threaded', { ms: 500 });
    const id = await post('threaded', { do: 'exit' });
    const error = 'its thread died: worker exited with code: 3';
    expect(await endOf(id)).toMatchObject({ state: 'failed', attempts: 2, error });
    expect(await endOf(beside)).toMatchObject({ state: 'completed', attempts: 1 });
    expect([worker.isRunning, watcher.isRunning]).toEqual([true, true]);
  });

  it('computes on when its job is cancelled, and is ended', async () => {
    const id = await post('threaded', { ms: 3_600_000 });
    await expect.poll(() => startsOf(id)).toBe(1);
    expect(await ask('DELETE', `/v1/jobs/${id}?tenant=${TENANT}`)).toMatchObject({ cancelRequested: true });
    expect(await endOf(id)).toMatchObject({ state: 'cancelled' });
  });
});

describe('what nobody can run', () => {
  it.each([
    ['flood', 'the result cannot be stored: 52428802 bytes of JSON, at most 1048576'],
    ['ring', /^the result cannot be stored: .*circular/],
    ['count', /^the result cannot be stored: .*BigInt/],
  ])('a result that cannot be stored (%s) fails its job at once', async (returns, error) => {
    const id = await post('odd', { returns });
    expect(await endOf(id)).toMatchObject({ state: 'failed', attempts: 1, error: expect.stringMatching(error) });
  });

  it('a payload that is no JSON fails its job at once', async () => {
    const id = await post('odd', {}, { delayMs: 2000 });
    const key = `${queuePrefix(shardTag('odd', parseJobId(id)?.shard))}:${encodeTenant(TENANT)}:${id}`;
    expect(await commands.hset(key, 'data', '{"n":')).toBe(0);
    const error = expect.stringMatching(/^the payload is not JSON: /);
    expect(await endOf(id)).toMatchObject({ state: 'failed', attempts: 1, error });
  });

  it('a handler file that throws while it loads fails the jobs of its type alone', async () => {
    expect(worker.said('a handler cannot be used: its jobs fail')).toMatchObject([{ type: 'broken' }]);
    const id = await post('broken', {});
    const error = expect.stringMatching(/^handler .*broken\.ts: failed while loading: no model here$/);
    expect(await endOf(id)).toMatchObject({ state: 'failed', attempts: 2, error });
  });

  it('is listed as failed, and all of it can be told to wait again', async () => {
    const failed = field(await ask('GET', `/v1/jobs?tenant=${TENANT}&type=odd&state=failed`), 'jobs');
    expect(failed).toHaveLength(4);
    expect(await ask('POST', `/v1/jobs/retry?tenant=${TENANT}&type=odd&state=failed`)).toMatchObject({ retried: 4 });
  });
});

describe('a worker that is told to leave and does not wait', () => {
  it('hands back what it runs, at the front and without using an attempt; another one runs it', async () => {
    for (const each of [worker, watcher]) expect(await each.stop()).toEqual({ code: 0, signal: null });
    const hasty = await system.folder.start('work', ['--concurrency', 'good=1', '--shutdown-grace', '0s']);
    const jobs = [{ workMs: 3000 }, {}].map((data) => ({ type: 'good', cost: 1, data }));
    const [first = '', second = ''] = (await witness.enqueueBatch('hasty', jobs)).map(idOf);
    await system.referee.until((trace) => trace.some((event) => event.kind === 'start' && event.job === first));
    expect(await hasty.stop()).toEqual({ code: 0, signal: null });
    const waiting = { state: 'waiting', attempts: 0 };
    expect(await ask('GET', `/v1/jobs/${first}?tenant=hasty`)).toMatchObject({ ...waiting, position: 1 });
    expect(await ask('GET', `/v1/jobs/${second}?tenant=hasty`)).toMatchObject({ ...waiting, position: 2 });
    worker = await system.folder.start('work');
    await witness.followToEnds();
    expect(await ask('GET', `/v1/jobs/${first}?tenant=hasty`)).toMatchObject({ state: 'completed', attempts: 1 });
  });

  it('leaves a system at rest, in which the referee saw nothing that breaks a guarantee', async () => {
    for (const type of ['good', 'threaded', 'broken', 'odd']) {
      await expect.poll(() => runningOf(system, api.url, type)).toBe(0);
    }
    await system.referee.expectNoViolations();
  });
});

import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JobState } from '../../src/model/verdict.js';
import { openConnection, untilReady } from '../../src/redis/connection.js';
import { RedisUnavailable } from '../../src/redis/outage.js';
import { newJobId } from '../../src/shaping/job-id.js';
import { RedisShaping } from '../../src/shaping/redis-shaping.js';
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
beforeEach(async () => {
  type = new ShapedType(redis);
  await type.work.configure();
});

const STATES: readonly JobState[] = ['waiting', 'delayed', 'active', 'completed', 'failed', 'expired', 'cancelled'];

async function allIds(state: JobState, limit: number, between?: () => Promise<unknown>): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const filter = { type: type.name, tenant: 'a', state, limit, ...(cursor !== undefined && { cursor }) };
    const page = await type.shaping.jobs(filter);
    expect(page.jobs.length).toBeLessThanOrEqual(limit);
    ids.push(...page.jobs.map(({ id }) => id));
    cursor = page.cursor;
    await between?.();
  } while (cursor !== undefined);
  return ids;
}

/** Brings 250 jobs of tenant a into a state; their ids, oldest first. */
async function bring(state: JobState): Promise<string[]> {
  const expiring = state === 'expired' ? { delayMs: 3_600_000, startByMs: Date.now() + 7_200_000 } : {};
  const ids = await type.fill('a', 250, state === 'delayed' ? { delayMs: 3_600_000 } : expiring);
  for (const id of ids) {
    if (state === 'active') await type.take();
    if (state === 'completed') await type.runOne();
    if (state === 'failed') await type.runOne({ kind: 'failed', value: 'no good' });
    if (state === 'cancelled') await type.shaping.cancel('a', id);
  }
  return ids;
}

describe('admit', () => {
  test('takes a prefix of more jobs than one call has, and answers the rest as the first that did not fit', async () => {
    type.profiles.set('a', { ratePerSecond: 2, depth: 120 });
    const jobs = Array.from({ length: 170 }, () => type.newJob());
    const { admissions, freePlaces } = await type.shaping.admit(type.name, 'a', jobs);
    expect(admissions.slice(0, 120).map(({ verdict }) => verdict)).toEqual(Array(120).fill('admitted'));
    const [refusal, ...others] = admissions.slice(120);
    expect(refusal).toMatchObject({ verdict: 'rejected', reason: 'bucket_full', limit: 'depth' });
    expect(others).toEqual(Array(49).fill(refusal));
    expect(freePlaces).toBe(0);
    const ids = jobs.slice(0, 120).map(({ id }) => id);
    expect(await allIds('waiting', 100)).toEqual(ids);
  });

  test('answers every job in its order, and how many places are left', async () => {
    type.profiles.set('a', { ratePerSecond: 2, depth: 3 });
    const jobs = [1, 2, 3, 4].map(() => type.newJob());
    const { admissions, depth, freePlaces } = await type.shaping.admit(type.name, 'a', jobs);
    expect([depth, freePlaces]).toEqual([3, 0]);
    const promised = (position: number, waitMs: number) => ({
      verdict: 'admitted',
      id: jobs[position - 1]?.id,
      state: 'waiting',
      promise: { position, waitMs, basis: 'rate' },
    });
    expect(admissions).toMatchObject([
      promised(1, 0),
      promised(2, 500),
      promised(3, 1000),
      { verdict: 'rejected', reason: 'bucket_full', limit: 'depth', retryAfterMs: 0 },
    ]);
  });

  test('charges a policed bucket: now, or when it conforms, or never', async () => {
    type.profiles.set('a', { mode: 'police', ratePerSecond: 0.01, burst: 2 });
    const jobs = [1, 3, 1, 1].map((cost) => type.newJob({ cost }));
    const { admissions } = await type.shaping.admit(type.name, 'a', jobs);
    expect(admissions).toMatchObject([
      { verdict: 'admitted', promise: { position: 1, waitMs: 0, basis: 'rate' } },
      { verdict: 'rejected', reason: 'cost_exceeds_max', max: 2 },
      { verdict: 'admitted', promise: { position: 2, waitMs: 0, basis: 'rate' } },
      { verdict: 'rejected', reason: 'rate_limited', retryAfterMs: 100_000 },
    ]);
    await type.shaping.admit(type.name, 'a', [jobs[0] ?? type.newJob()]);
    const held = [await type.take(), await type.take()];
    expect(held.map(({ id }) => id)).toEqual([jobs[0]?.id, jobs[2]?.id]);
    await type.shaping.cancel('a', jobs[2]?.id ?? '');
    expect((await type.shaping.bucket(type.name, 'a')).level).toBeCloseTo(2, 1);
  });

  test('answers a repeated job as it stands now', async () => {
    const job = type.newJob({ idempotencyKey: 'k' });
    await type.shaping.admit(type.name, 'a', [job]);
    const again = { ...job, id: newJobId(type.name) };
    const replay = async () => (await type.shaping.admit(type.name, 'a', [again])).admissions[0];
    expect(await replay()).toMatchObject({ verdict: 'admitted', id: job.id, replayed: true, state: 'waiting' });
    await type.runOne();
    expect(await replay()).toMatchObject({ id: job.id, replayed: true, state: 'completed', promise: null });
    const other = await type.shaping.admit(type.name, 'a', [{ ...again, data: '{"n":2}' }]);
    expect(other.admissions).toEqual([{ verdict: 'rejected', reason: 'idempotency_mismatch' }]);
  });
});

describe('job', () => {
  test('tells a job through its life', async () => {
    const [id = ''] = await type.fill('a', 1, { priority: 0, cost: 2.5, data: '{"ü":1}' });
    const read = () => type.shaping.job('a', id);
    expect(await read()).toMatchObject({
      id,
      state: 'waiting',
      priority: 0,
      cost: 2.5,
      startedAtMs: null,
      attemptsMade: 0,
    });
    const held = await type.take();
    await type.work.progress(held.token, '{"page":3}');
    expect(await read()).toMatchObject({ state: 'active', promise: null, progress: { page: 3 }, endedAtMs: null });
    await type.work.settle(held, { kind: 'completed', value: '{"text":"ü"}' });
    const ended = await read();
    expect(ended).toMatchObject({ state: 'completed', result: { text: 'ü' }, attemptsMade: 1 });
    expect(ended).not.toHaveProperty('error');
    expect(Number(ended?.endedAtMs)).toBeGreaterThanOrEqual(Number(ended?.startedAtMs));
  });

  test('tells why a job failed', async () => {
    const [id = ''] = await type.fill('a', 1);
    await type.runOne({ kind: 'failed', value: 'no good' });
    expect(await type.shaping.job('a', id)).toMatchObject({ state: 'failed', error: 'no good' });
  });

  test.each(['', 'x', '__proto__', `${newJobId('nosuch')}`, 'a:b'])('knows nothing of %j', async (id) => {
    expect(await type.shaping.job('a', id)).toBeUndefined();
    expect(await type.shaping.cancel('a', id)).toBe('not_found');
  });

  test('knows no job of another tenant', async () => {
    const [id = ''] = await type.fill('a', 1);
    expect(await type.shaping.job('b', id)).toBeUndefined();
    expect(await type.shaping.cancel('b', id)).toBe('not_found');
    expect(await type.shaping.job('a', id)).toBeDefined();
  });
});

describe('jobs', () => {
  test.each(STATES.filter((state) => state !== 'expired'))('goes through 250 that are %s', async (state) => {
    const ids = await bring(state);
    const listed = await allIds(state, 17);
    if (state === 'completed' || state === 'failed' || state === 'cancelled') {
      // Those that ended in one millisecond stand by their ids.
      expect([...listed].sort()).toEqual([...ids].sort());
      expect(new Set(listed).size).toBe(250);
    } else expect(listed).toEqual(ids);
  });

  test('goes through those that expired', async () => {
    await type.fill('a', 1);
    const startByMs = Date.now() + 500;
    type.profiles.set('a', { ratePerSecond: 1e5, concurrency: 1 });
    const held = await type.take();
    const ids = await type.fill('a', 40, { startByMs });
    await expect
      .poll(async () => {
        await type.work.dispatch(type.work.newToken());
        return (await type.shaping.bucket(type.name, 'a')).waiting;
      })
      .toBe(0);
    expect([...(await allIds('expired', 7))].sort()).toEqual([...ids].sort());
    expect(await allIds('cancelled', 7)).toEqual([]);
    await type.work.settle(held, { kind: 'completed', value: '1' });
  });

  test('shows each that goes on waiting once, while those before it are taken', async () => {
    const ids = await bring('waiting');
    const taken: string[] = [];
    const listed = await allIds('waiting', 20, async () => {
      for (let i = 0; i < 5; i += 1) taken.push(await type.runOne());
    });
    expect(new Set(listed).size).toBe(listed.length);
    const unseen = ids.filter((id) => !listed.includes(id));
    expect(unseen.filter((id) => !taken.includes(id))).toEqual([]);
    expect(listed).toEqual(ids.filter((id) => listed.includes(id)));
  });

  test('shows each that has ended once, while others end', async () => {
    const ids = await type.fill('a', 250);
    for (let i = 0; i < 200; i += 1) await type.runOne();
    const listed = await allIds('completed', 30, () =>
      ids.length > 0 ? type.runOne().catch(() => undefined) : Promise.resolve(),
    );
    expect(new Set(listed).size).toBe(listed.length);
    expect(ids.slice(0, 200).filter((id) => !listed.includes(id))).toEqual([]);
  });

  test.each(['', '~', 'x', 'x~y', 'nan~a', '(1~a', `1~${'a'.repeat(200)}`])(
    'answers an empty page after %j, which is no cursor',
    async (cursor) => {
      await type.fill('a', 3);
      for (const state of STATES) {
        expect(await type.shaping.jobs({ type: type.name, tenant: 'a', state, cursor, limit: 10 })).toEqual({
          jobs: [],
        });
      }
    },
  );
});

describe('cancel', () => {
  test('ends what waits, asks what runs, and leaves what has ended', async () => {
    const [running = '', waiting = ''] = await type.fill('a', 2);
    const [delayed = ''] = await type.fill('a', 1, { delayMs: 60_000 });
    const held = await type.take();
    expect(await type.shaping.cancel('a', waiting)).toBe('cancelled');
    expect(await type.shaping.cancel('a', delayed)).toBe('cancelled');
    expect(await type.shaping.cancel('a', waiting)).toBe('already_ended');
    expect(await type.shaping.cancel('a', running)).toBe('cancel_requested');
    expect(await type.work.renew([held.token])).toEqual({ lostTokens: [], cancelRequestedIds: [running] });
    await type.work.settle(held, { kind: 'cancelled', value: 'cancelled' });
    for (const id of [running, waiting, delayed]) {
      expect(await type.shaping.job('a', id)).toMatchObject({ state: 'cancelled', error: 'cancelled' });
    }
  });
});

describe('the state of a bucket and of its type', () => {
  test('of one that nobody used is empty', async () => {
    expect(await type.shaping.bucket(type.name, 'a')).toMatchObject({
      ...{
        type: type.name,
        tenant: 'a',
        level: 0,
        waiting: 0,
        delayed: 0,
        running: 0,
        waitingCost: 0,
        waitingBytes: 0,
      },
      nextStartMs: null,
    });
    expect(await type.shaping.type(type.name)).toMatchObject({ backloggedBuckets: 0, running: 0 });
  });

  test('counts what waits, is delayed and runs', async () => {
    type.profiles.set('a', { ratePerSecond: 1e-3 });
    await type.fill('a', 3, { cost: 2, data: '"ü"' });
    await type.fill('a', 1, { delayMs: 60_000, data: '12' });
    await type.take();
    const bucket = await type.shaping.bucket(type.name, 'a');
    expect(bucket).toMatchObject({ waiting: 2, delayed: 1, running: 1, waitingCost: 4, waitingBytes: 2 * 4 + 2 });
    expect(bucket.level).toBeCloseTo(2, 1);
    expect(bucket.nextStartMs).toBeGreaterThan(1_900_000);
    expect(bucket.profile).toMatchObject({ ratePerSecond: 1e-3 });
    await type.fill('b', 1);
    expect(await type.shaping.type(type.name)).toMatchObject({ backloggedBuckets: 2, running: 1 });
  });

  test('all its buckets are met once by a walk over pages, none of which grows with the number of tenants', async () => {
    const tenants = Array.from({ length: 900 }, (_, i) => `tenant ${i}`);
    await Promise.all(tenants.map((tenant, i) => type.fill(tenant, 1, i % 3 === 0 ? { delayMs: 60_000 } : {})));
    for (let i = 0; i < 150; i += 1) await type.take();
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await type.shaping.buckets(type.name, cursor, 20);
      expect(page.buckets.length).toBeLessThan(100);
      seen.push(...page.buckets.map(({ tenant }) => tenant));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen.toSorted()).toEqual(tenants.toSorted());
    expect(await type.shaping.buckets(type.name, 'x', 20)).toEqual({ buckets: [] });
  });
});

test('everything is unavailable when Redis is, and nothing else is thrown', async () => {
  const gone = await startRedis();
  const connection = openConnection({ socketPath: gone.socketPath }, { name: 'test', deadlineMs: 1000 });
  await untilReady(connection);
  const shaping = new RedisShaping(connection, type.settings);
  await shaping.ping();
  await gone.stop();
  const id = newJobId(type.name);
  const calls = [
    () => shaping.ping(),
    () => shaping.admit(type.name, 'a', [type.newJob()]),
    () => shaping.job('a', id),
    () => shaping.jobs({ type: type.name, tenant: 'a', state: 'waiting', limit: 10 }),
    () => shaping.cancel('a', id),
    () => shaping.bucket(type.name, 'a'),
    () => shaping.type(type.name),
  ];
  for (const call of calls) await expect(call()).rejects.toBeInstanceOf(RedisUnavailable);
  connection.disconnect();
});

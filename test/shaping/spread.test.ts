import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { shardTag } from '../../src/redis/keys.js';
import { BucketControl } from '../../src/shaping/bucket-control.js';
import { BucketSurvey } from '../../src/shaping/bucket-survey.js';
import { newJobId } from '../../src/shaping/job-id.js';
import { jobPayload } from '../../src/shaping/job-payload.js';
import { syncProfiles } from '../../src/shaping/sync-profiles.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { ShapedType } from './shaped-type.js';

const SHARDS = 5;
const TENANTS = Array.from({ length: 20 }, (_, i) => `t${i}`);

let server: TestRedis;
let redis: Redis;
let type: ShapedType;

beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.stop());
beforeEach(async () => {
  type = new ShapedType(redis, {}, SHARDS);
  await type.source.configure();
  for (const [i, tenant] of TENANTS.entries()) {
    if (i % 2 === 0) type.profiles.set(tenant, { ratePerSecond: 0.001 });
    await type.fill(tenant, 2);
  }
});

/** Every tenant that a walk over all pages meets. */
async function walked(
  page: (cursor: string | undefined) => Promise<{ tenants: readonly string[]; cursor: string | undefined }>,
) {
  const met: string[] = [];
  let cursor: string | undefined;
  do {
    const next = await page(cursor);
    met.push(...next.tenants);
    cursor = next.cursor;
  } while (cursor !== undefined);
  return met;
}

describe('a type that is spread is read as a whole', () => {
  test('as the sum of its shards', async () => {
    const token = type.source.newToken();
    await type.source.dispatch(token);
    expect(await type.shaping.type(type.name)).toMatchObject({ running: 1, backloggedBuckets: TENANTS.length });
  });

  test('bucket by bucket, over pages of any size', async () => {
    for (const limit of [1, 7, 100]) {
      const met = await walked(async (at) => {
        const { buckets, cursor } = await type.shaping.buckets(type.name, at, limit);
        return { tenants: buckets.map(({ tenant }) => tenant), cursor };
      });
      expect(new Set(met)).toEqual(new Set(TENANTS));
    }
  });

  test('by a survey, in the order in which it was asked', async () => {
    const survey = new BucketSurvey(redis, type.settings);
    const met = await walked(async (at) => survey.tenants(type.name, at, 3));
    expect(new Set(met)).toEqual(new Set(TENANTS));
    const found = await survey.buckets(type.name, [...TENANTS].reverse());
    expect(found.map(({ tenant, waiting }) => [tenant, waiting])).toEqual([...TENANTS].reverse().map((t) => [t, 2]));
  });

  test.each(['r0.5', 'r0.4999', 'x0', 'r0.', 'r0.01', 'n1.2.3'])(
    'and nothing follows %s, which is no cursor of it',
    async (cursor) => {
      expect(await type.shaping.buckets(type.name, cursor, 10)).toEqual({ buckets: [] });
    },
  );
});

describe('a job', () => {
  test('lives in the shard of its tenant, as its id says', async () => {
    const [id = ''] = await type.fill('acme', 1);
    expect(id).toMatch(/\.2$/);
    expect(await type.shaping.job('acme', id)).toMatchObject({ id, state: 'waiting' });
    expect(await jobPayload(redis, type.settings.shards, 'acme', id)).toBe('{}');
    expect(await type.shaping.cancel('acme', id)).toBe('cancelled');
  });

  test.each([0, 1, 5, 99_999])('of shard %i is not this tenant’s, and leaves no trace', async (shard) => {
    const id = newJobId(type.name, shard);
    expect(await type.shaping.job('acme', id)).toBeUndefined();
    expect(await type.shaping.cancel('acme', id)).toBe('not_found');
    expect(await type.shaping.retry('acme', id)).toEqual({ verdict: 'not_found' });
    expect(await type.shaping.output('acme', id, '', 10)).toEqual([]);
    expect(await redis.exists(`${shardTag(type.name, 5)}:type`, `${shardTag(type.name, 99_999)}:type`)).toBe(0);
  });
});

describe('what administrators do reaches every shard', () => {
  test('a purge of the type', async () => {
    const told: [string, number][] = [];
    const control = new BucketControl(redis, type.settings, ({ tenant }, jobs) => told.push([tenant, jobs]));
    expect(await control.purgeType(type.name)).toEqual({ cancelled: 2 * TENANTS.length, more: false });
    expect(told.toSorted()).toEqual(TENANTS.map((tenant) => [tenant, 2]).toSorted());
  });

  test('a pause, a purge and an erasure of one tenant', async () => {
    const control = new BucketControl(redis, type.settings);
    await control.pause(type.name, 't3', true);
    expect([await control.isPaused(type.name, 't3'), await control.isPaused(type.name, 't4')]).toEqual([true, false]);
    expect(await control.purge(type.name, 't3')).toEqual({ cancelled: 2, more: false });
    expect(await control.erase(type.name, 't3')).toMatchObject({ erased: 2, more: false });
    expect((await type.shaping.bucket(type.name, 't3')).waiting).toBe(0);
  });

  test('a change of profiles', async () => {
    for (const tenant of TENANTS) type.profiles.set(tenant, { ratePerSecond: 7 });
    expect(await syncProfiles(redis, type.settings, type.name)).toBe(TENANTS.length);
  });
});

describe('a promise', () => {
  const UNTIL_SCARCE_MS = 60;

  test('is not by the rate alone while something waits for a slot in another shard', async () => {
    const fresh = new ShapedType(redis, {}, SHARDS);
    await fresh.source.configure();
    fresh.profiles.set('t0', { ratePerSecond: 10 });
    const one = async () => {
      const { admissions } = await fresh.shaping.admit(fresh.name, 't0', [fresh.newJob({ delayMs: 0 }, 't0')]);
      const [admission] = admissions;
      return admission?.verdict === 'admitted' ? admission.promise?.basis : undefined;
    };
    expect(await one()).toBe('rate');
    expect(await fresh.source.dispatch(fresh.source.newToken())).toMatchObject({ kind: 'job' });
    const elsewhere = TENANTS.find((tenant) => fresh.settings.shards.of(tenant) !== fresh.settings.shards.of('t0'));
    await fresh.fill(elsewhere ?? '', 5);
    await expect
      .poll(async () => (await fresh.shaping.type(fresh.name)).scarceForMs, { interval: UNTIL_SCARCE_MS })
      .not.toBeNull();
    await expect.poll(one, { interval: UNTIL_SCARCE_MS }).toBe('capacity');
    expect(await fresh.shaping.quote(fresh.name, 't0', { count: 1, priority: 4, cost: 1 })).toMatchObject({
      first: { basis: 'capacity' },
    });
  });
});

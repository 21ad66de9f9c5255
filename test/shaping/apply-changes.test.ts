import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LiveConfig } from '../../src/config/live-config.js';
import type { OverrideSubject } from '../../src/config/override-subject.js';
import { applyCapacities, applyChanges, retimeAll } from '../../src/shaping/apply-changes.js';
import { BucketControl } from '../../src/shaping/bucket-control.js';
import { newJobId } from '../../src/shaping/job-id.js';
import { LiveSettings } from '../../src/shaping/live-settings.js';
import { RedisShaping } from '../../src/shaping/redis-shaping.js';
import { typeSettings } from '../../src/shaping/settings.js';
import { WorkSource } from '../../src/shaping/work-source.js';
import { configFrom } from '../http/support/test-config.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

const file = await configFrom(`
types: { a: {}, b: {} }
tiers: { slow: { rate: 0.01/s }, other: { rate: 0.01/s } }
defaultTier: slow
tenants: { elsewhere: { tier: other } }
`);

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
beforeEach(() => server.flush());
afterAll(() => server.stop());

const TENANT: OverrideSubject = { kind: 'tenant', name: 'x:{y}' };

/** What one process knows, and how it looks at jobs. */
function process() {
  const live = new LiveConfig(file);
  const settings = new LiveSettings(live);
  const parts = { redis, live, settings };
  const shaping = new RedisShaping(redis, settings);
  const set = (subject: OverrideSubject, fields: Record<string, string>) => {
    live.set(subject, new Map(Object.entries(fields)));
    return subject;
  };
  const fill = (tenant: string, count: number, type = 'a') => {
    const jobs = Array.from({ length: count }, () => ({
      id: newJobId(type),
      data: '{}',
      priority: 4,
      delayMs: 0,
      cost: 1,
    }));
    return shaping.admit(type, tenant, jobs);
  };
  /** Milliseconds until the last of two jobs of a tenant starts, by what stands in Redis. */
  const lastStartMs = async (tenant: string, type = 'a') => {
    const page = await shaping.jobs({ type, tenant, state: 'waiting', limit: 100 });
    return page.jobs.at(-1)?.promise?.waitMs;
  };
  return { live, settings, parts, shaping, set, fill, lastStartMs };
}

describe('what waits follows a change', () => {
  test('of its tenant, in every type, and of nobody else', async () => {
    const { parts, set, fill, lastStartMs } = process();
    for (const tenant of [TENANT.name, 'other']) for (const type of ['a', 'b']) await fill(tenant, 2, type);
    expect(await applyChanges(parts, [set(TENANT, { rate: '0.1/s' })])).toBe(2);
    for (const type of ['a', 'b']) {
      expect(await lastStartMs(TENANT.name, type)).toBeLessThanOrEqual(10_000);
      expect(await lastStartMs('other', type)).toBeGreaterThan(90_000);
    }
  });

  test('of its tier: hundreds of tenants, whether they wait for their rate or for a worker', async () => {
    const { parts, settings, set, fill } = process();
    const tenants = Array.from({ length: 450 }, (_, i) => `t${i}`);
    await Promise.all([...tenants, 'elsewhere'].map((tenant) => fill(tenant, 2)));
    const work = new WorkSource(redis, 'a', typeSettings(settings, 'a'), { worker: 'w', lockMs: 30_000 });
    for (let i = 0; i < 200; i += 1) await work.dispatch(work.newToken());
    expect(await applyChanges(parts, [set({ kind: 'tier', name: 'slow' }, { rate: '0.1/s' })])).toBe(450);
  });

  test('at the next start, when the process that took it died before it came to what waits', async () => {
    const [died, next] = [process(), process()];
    await died.fill(TENANT.name, 2);
    next.set(TENANT, { rate: '0.1/s' });
    expect(await next.lastStartMs(TENANT.name)).toBeGreaterThan(90_000);
    expect(await retimeAll(redis, next.settings)).toBe(1);
    expect(await next.lastStartMs(TENANT.name)).toBeLessThanOrEqual(10_000);
  });

  test('once: whoever comes second finds nothing to do', async () => {
    const { parts, set, fill } = process();
    await fill(TENANT.name, 2);
    const subject = set(TENANT, { rate: '0.1/s' });
    expect([await applyChanges(parts, [subject]), await applyChanges(parts, [subject])]).toEqual([1, 0]);
  });

  test('of many tenants at once', async () => {
    const { parts, set, fill } = process();
    const subjects = Array.from({ length: 50 }, (_, i): OverrideSubject => ({ kind: 'tenant', name: `t${i}` }));
    await Promise.all(subjects.map(({ name }) => fill(name, 2)));
    for (const subject of subjects) set(subject, { rate: '0.1/s' });
    expect(await applyChanges(parts, subjects)).toBe(50);
  });

  test('and a bucket that is not there is not made', async () => {
    const { parts, set } = process();
    expect(await applyChanges(parts, [set(TENANT, { rate: '0.1/s' })])).toBe(0);
    expect(await redis.keys('*')).toEqual([]);
  });
});

test('a process that admits before it has heard is put right when it hears', async () => {
  const [one, late] = [process(), process()];
  await one.fill(TENANT.name, 2);
  const subject = one.set(TENANT, { rate: '0.1/s' });
  await applyChanges(one.parts, [subject]);
  await late.fill(TENANT.name, 1);
  expect(await one.lastStartMs(TENANT.name), 'it went by what it knew').toBeGreaterThan(90_000);
  late.set(TENANT, { rate: '0.1/s' });
  expect(await applyChanges(late.parts, [subject])).toBe(1);
  expect(await one.lastStartMs(TENANT.name)).toBeLessThanOrEqual(20_000);
});

test('a type that is gone from the file has no capacity to change', async () => {
  const { parts, set } = process();
  await applyCapacities(parts, [set({ kind: 'type', name: 'gone' }, { 'capacity.rate': '1/s' })]);
  expect(await redis.keys('*')).toEqual([]);
});

describe('settings that live', () => {
  test('show the capacity that holds, through the object that was asked for before', () => {
    const { settings, set } = process();
    const type = typeSettings(settings, 'a');
    set({ kind: 'type', name: 'a' }, { 'capacity.concurrency': '3' });
    expect(type.capacity).toMatchObject({ ratePerSecond: Infinity, concurrency: 3 });
    set({ kind: 'type', name: 'a' }, { 'capacity.concurrency': '3', paused: '1' });
    expect(type.capacity).toMatchObject({ ratePerSecond: 0, concurrency: 3 });
  });

  test('know no type that the file does not', () => {
    const { settings, set } = process();
    set({ kind: 'type', name: 'gone' }, { 'capacity.rate': '1/s' });
    expect([settings.type('gone'), settings.typeNames()]).toEqual([undefined, ['a', 'b']]);
  });
});

test('a purge of a type is done when it says so, with a bucket in every state', async () => {
  const { settings, fill, shaping } = process();
  const tenants = Array.from({ length: 250 }, (_, i) => `t${i}`);
  await Promise.all(tenants.map((tenant) => fill(tenant, 2)));
  const control = new BucketControl(redis, settings);
  await control.pause('a', 't7', true);
  expect(await control.purgeType('a')).toEqual({ cancelled: 500, more: false });
  expect((await shaping.type('a')).backloggedBuckets).toBe(0);
  expect(await control.isPaused('a', 't7')).toBe(true);
});

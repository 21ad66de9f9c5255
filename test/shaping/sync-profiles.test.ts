import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { syncProfiles } from '../../src/shaping/sync-profiles.js';
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

const sync = () => syncProfiles(redis, type.settings, type.name);

describe('after a change of profiles', () => {
  test('what waits follows at once', async () => {
    type.profiles.set('a', { ratePerSecond: 1e-3 });
    await type.fill('a', 3);
    await type.take();
    type.profiles.set('a', { ratePerSecond: 1e-2 });
    expect(await sync()).toBe(1);
    const waitUs = await type.waitUs();
    expect(waitUs).toBeGreaterThan(90e6);
    expect(waitUs).toBeLessThanOrEqual(100e6);
  });

  test('only what changed is touched, and nothing twice', async () => {
    for (const tenant of ['a', 'b', 'c', 'd']) {
      type.profiles.set(tenant, { ratePerSecond: 1e-3 });
      await type.fill(tenant, 2);
    }
    for (let i = 0; i < 3; i += 1) await type.take();
    expect(await sync()).toBe(0);
    type.profiles.set('a', { weight: 3 });
    type.profiles.set('b', { ratePerSecond: 5 });
    expect(await sync()).toBe(2);
    expect(await sync()).toBe(0);
  });

  test('a bucket that is paused stops, one that goes on starts, and none changes a second time', async () => {
    type.profiles.set('a', { ratePerSecond: 1e5 });
    const [id] = await type.fill('a', 1);
    type.profiles.set('a', { ratePerSecond: 0 });
    expect([await sync(), await sync()]).toEqual([1, 0]);
    expect(await type.waitUs()).toBeNull();
    type.profiles.set('a', { ratePerSecond: 1e5 });
    expect([await sync(), await sync()]).toEqual([1, 0]);
    expect((await type.take()).id).toBe(id);
  });

  test('one in which something only runs follows too: a raised cap holds at once', async () => {
    type.profiles.set('a', { concurrency: 1 });
    await type.fill('a', 2);
    await type.take();
    expect(await type.waitUs()).toBeNull();
    type.profiles.set('a', { concurrency: 2 });
    expect(await sync()).toBe(1);
    await type.take();
    type.profiles.set('a', { concurrency: 3 });
    expect(await sync()).toBe(1);
  });

  test('every one of many buckets follows, whatever its tenant is called', async () => {
    const tenants = ['__proto__', 'a:b', '{a}', 'a b', '😀', ...Array.from({ length: 500 }, (_, n) => `t${n}`)];
    for (const tenant of tenants) type.profiles.set(tenant, { ratePerSecond: 1e-3 });
    for (const tenant of tenants) await type.fill(tenant, 1);
    for (const tenant of tenants) type.profiles.set(tenant, { ratePerSecond: 2e-3 });
    expect(await sync()).toBe(505);
    expect(await sync()).toBe(0);
  });

  test('quiet buckets are left for later', async () => {
    type.profiles.set('a', { ratePerSecond: 1e5 });
    await type.fill('a', 1);
    await type.runOne();
    type.profiles.set('a', { ratePerSecond: 1 });
    expect(await sync()).toBe(0);
  });
});

test('a type that nobody used has nothing to follow', async () => {
  expect(await sync()).toBe(0);
});

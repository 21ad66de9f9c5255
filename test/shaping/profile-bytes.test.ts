import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_PROFILE, type Profile } from '../../src/model/profile.js';
import { bucketKey, encodeTenant, shardTag } from '../../src/redis/keys.js';
import { PROFILE_BYTES, profileBytes } from '../../src/shaping/profile-bytes.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { ShapedType } from './shaped-type.js';

let server: TestRedis;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

function numbersOf(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleLE(8 * i));
}

const profiles = fc.record({
  ratePerSecond: fc.constantFrom(0, 1e-4, 0.5, 2 / 3, 7, 1e5, Infinity),
  jobRatePerSecond: fc.constantFrom(0, 0.1, 3, Infinity),
  burst: fc.constantFrom(1, 2.5, 100),
  depth: fc.constantFrom(1, 1000, Infinity),
  maxBytes: fc.constantFrom(1, 1e9, Infinity),
  maxWaitMs: fc.constantFrom(1, 1e6, Infinity),
  weight: fc.constantFrom(0.1, 1, 7),
  concurrency: fc.constantFrom(1, 50, Infinity),
  mode: fc.constantFrom('shape' as const, 'police' as const),
});

describe('a profile for the scripts', () => {
  test('is ten finite numbers, whatever it says', () => {
    fc.assert(
      fc.property(profiles, (profile) => {
        const numbers = numbersOf(profileBytes(profile));
        expect(numbers.length * 8).toBe(PROFILE_BYTES);
        expect(numbers.every(Number.isFinite)).toBe(true);
      }),
    );
  });

  test('is the same bytes for the same profile only', () => {
    fc.assert(
      fc.property(profiles, profiles, (one, other) => {
        const isSame =
          JSON.stringify(Object.values(one).map(String)) === JSON.stringify(Object.values(other).map(String));
        expect(profileBytes(one).equals(profileBytes(other))).toBe(isSame);
      }),
    );
  });

  test.each<[string, Partial<Profile>, number[]]>([
    ['5 a second', { ratePerSecond: 5 }, [200_000, 0, 1, 100_000, 1, 1e15, 0, 1000, 67_108_864, 1e15]],
    ['no limit', { ratePerSecond: Infinity }, [0, 0, 1, 25_000, 1, 1e15, 0, 1000, 67_108_864, 1e15]],
    ['a rate of 0', { ratePerSecond: 0 }, [-1, 0, 1, 25_000, 1, 1e15, 1, 1000, 67_108_864, 1e15]],
    ['a policed bucket', { mode: 'police' }, [1e6, 0, 1, 250_000, 1, 1e15, 2, 1000, 67_108_864, 1e15]],
    ['both', { mode: 'police', ratePerSecond: 0 }, [-1, 0, 1, 25_000, 1, 1e15, 3, 1000, 67_108_864, 1e15]],
    ['a job rate of 0', { jobRatePerSecond: 0 }, [1e6, -1, 1, 250_000, 1, 1e15, 1, 1000, 67_108_864, 1e15]],
  ])('of %s', (_, parts, numbers) => {
    expect(numbersOf(profileBytes({ ...DEFAULT_PROFILE, ...parts }))).toEqual(numbers);
  });

  test('has the slack that its type states', () => {
    expect(numbersOf(profileBytes(DEFAULT_PROFILE, 1234))[3]).toBe(1234);
  });

  test('stands at the head of what the scripts store, as it was given', async () => {
    const type = new ShapedType(server.client());
    await fc.assert(
      fc.asyncProperty(profiles, fc.nat(), async (profile, n) => {
        const tenant = `t${n}`;
        type.profiles.set(tenant, { ...profile, depth: 1e6 });
        await type.fill(tenant, 1);
        const stored = await type.redis.getBuffer(bucketKey(shardTag(type.name), encodeTenant(tenant)));
        const given = profileBytes(type.settings.profile(type.name, tenant));
        expect(stored?.subarray(0, PROFILE_BYTES)).toEqual(given);
      }),
      { numRuns: 30 },
    );
  });
});

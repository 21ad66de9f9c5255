import { describe, expect, test } from 'vitest';
import { effectiveProfile, mayUse, profileRevision } from '../../src/config/effective-profile.js';
import { DEFAULT_PROFILE, type Profile } from '../../src/model/profile.js';
import { loadText } from './loading.js';

const TEXT = `
types: { ocr: {}, chat: {}, tts: {} }
tiers:
  free: { rate: 1/s, depth: 10, allow: [chat] }
  pro: { rate: 10/s, burst: 5, jobRate: 60/m, depth: 1000, maxBytes: 1MB, weight: 4, concurrency: 4, maxWait: 5m }
defaultTier: free
tenants:
  acme: { tier: pro, rate: 20/s, weight: 8, types: { ocr: { rate: 2/s, concurrency: unlimited } } }
  plain: {}
  chosen: { allow: [ocr] }
  none: { tier: pro, allow: [] }
`;

describe('a field comes from the first that states it', () => {
  test('the tenant for the type, the tenant, its tier, the default', async () => {
    const config = await loadText(TEXT);
    const pro = { burst: 5, jobRatePerSecond: 1, depth: 1000, maxBytes: 1_048_576, maxWaitMs: 300_000, mode: 'shape' };
    expect(effectiveProfile(config, 'ocr', 'acme')).toEqual({
      ...pro,
      ratePerSecond: 2,
      weight: 8,
      concurrency: Infinity,
    });
    expect(effectiveProfile(config, 'chat', 'acme')).toEqual({ ...pro, ratePerSecond: 20, weight: 8, concurrency: 4 });
    expect(effectiveProfile(config, 'ocr', 'none')).toEqual({ ...pro, ratePerSecond: 10, weight: 4, concurrency: 4 });
  });

  test('a tenant without a tier, named or not, has the default tier', async () => {
    const config = await loadText(TEXT);
    const free = { ...DEFAULT_PROFILE, depth: 10 };
    for (const tenant of ['plain', 'stranger', '__proto__', 'constructor']) {
      expect(effectiveProfile(config, 'ocr', tenant)).toEqual(free);
    }
  });

  test('where no tier is named at all, the defaults hold', async () => {
    expect(effectiveProfile(await loadText('types: { x: {} }'), 'x', 'anyone')).toEqual(DEFAULT_PROFILE);
  });
});

test("a tenant's own list of types goes before that of its tier; without any, all types are free", async () => {
  const config = await loadText(TEXT);
  const used = (tenant: string) => ['ocr', 'chat', 'tts'].filter((type) => mayUse(config, type, tenant));
  expect(used('acme')).toEqual(['ocr', 'chat', 'tts']);
  expect(used('plain')).toEqual(['chat']);
  expect(used('stranger')).toEqual(['chat']);
  expect(used('chosen')).toEqual(['ocr']);
  expect(used('none')).toEqual([]);
});

describe('a revision stands for a profile', () => {
  test('it is short, and the same in every process and version', () => {
    const profile: Profile = {
      ratePerSecond: 0.5,
      burst: 1,
      jobRatePerSecond: Infinity,
      depth: 50,
      maxBytes: 1024,
      maxWaitMs: Infinity,
      weight: 1,
      concurrency: 2,
      mode: 'shape',
    };
    expect(profileRevision(profile)).toBe('N70MYpeHULqaqQ4d');
  });

  test('it does not change with the order of the fields', () => {
    const { burst, ...rest } = DEFAULT_PROFILE;
    expect(profileRevision({ ...rest, burst })).toBe(profileRevision(DEFAULT_PROFILE));
  });

  const changes: Profile = {
    ratePerSecond: 1.0000000000000002,
    burst: 2,
    jobRatePerSecond: 1,
    depth: 999,
    maxBytes: 1,
    maxWaitMs: 1,
    weight: 1.5,
    concurrency: 1,
    mode: 'police',
  };
  test.each(Object.entries(changes))('it changes with %s', (field, value) => {
    expect(profileRevision({ ...DEFAULT_PROFILE, [field]: value })).not.toBe(profileRevision(DEFAULT_PROFILE));
  });
});

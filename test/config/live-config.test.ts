import { describe, expect, test } from 'vitest';
import { effectiveProfile, mayUse } from '../../src/config/effective-profile.js';
import { capacityOrigins, tenantOrigins, tierOrigin, tierOriginsOf } from '../../src/config/field-origins.js';
import { LiveConfig } from '../../src/config/live-config.js';
import type { OverrideSubject } from '../../src/config/override-subject.js';
import { loadText } from './loading.js';

const TEXT = `
types:
  ocr: { capacity: { rate: 20/s, burst: 20 } }
  chat: { mode: police }
tiers:
  free: { rate: 1/s, depth: 10, allow: [chat] }
  pro: { rate: 10/s, burst: 5, weight: 4 }
defaultTier: free
tenants:
  acme: { tier: pro, weight: 8, types: { ocr: { rate: 2/s } } }
  plain: {}
`;

const tenant = (name: string): OverrideSubject => ({ kind: 'tenant', name });
const tier = (name: string): OverrideSubject => ({ kind: 'tier', name });
const type = (name: string): OverrideSubject => ({ kind: 'type', name });
const values = (fields: Record<string, string>) => new Map(Object.entries(fields));

async function live(): Promise<LiveConfig> {
  return new LiveConfig(await loadText(TEXT));
}

describe('an override wins over the file', () => {
  test('field by field, in its own layer: what the file says for one type stands before what a tenant overrides for all', async () => {
    const config = await live();
    config.set(tenant('acme'), values({ rate: '5/s', depth: '7' }));
    expect(effectiveProfile(config.view, 'ocr', 'acme')).toMatchObject({
      ratePerSecond: 2,
      depth: 7,
      weight: 8,
      burst: 5,
    });
    expect(effectiveProfile(config.view, 'chat', 'acme')).toMatchObject({
      ratePerSecond: 5,
      depth: 7,
      weight: 8,
      burst: 5,
    });
    config.set(tenant('acme'), values({ weight: '3' }));
    expect(effectiveProfile(config.view, 'ocr', 'acme')).toMatchObject({ ratePerSecond: 2, weight: 3, burst: 5 });
    config.set(tenant('acme'), values({ 'types.ocr.rate': 'unlimited', 'types.chat.mode': 'shape' }));
    expect(effectiveProfile(config.view, 'ocr', 'acme')).toMatchObject({ ratePerSecond: Infinity, mode: 'shape' });
    expect(effectiveProfile(config.view, 'chat', 'acme')).toMatchObject({ ratePerSecond: 10, mode: 'shape' });
  });

  test('and no longer once it is cleared', async () => {
    const config = await live();
    const before = effectiveProfile(config.view, 'ocr', 'acme');
    config.set(tenant('acme'), values({ tier: 'free', 'types.ocr.rate': '9/s' }));
    config.set(tenant('acme'), values({}));
    expect(effectiveProfile(config.view, 'ocr', 'acme')).toEqual(before);
    expect(config.view).toEqual({ ...config.file });
    expect(config.subjects()).toEqual([]);
  });

  test('for all tenants of a tier, those of the default tier that nobody named among them', async () => {
    const config = await live();
    config.set(tier('free'), values({ rate: '3/s', mode: 'police' }));
    for (const id of ['plain', 'stranger', '__proto__']) {
      const profile = { ratePerSecond: 3, depth: 10, mode: 'police' };
      expect(effectiveProfile(config.view, 'ocr', id)).toMatchObject(profile);
    }
    expect(effectiveProfile(config.view, 'ocr', 'acme')).toMatchObject({ ratePerSecond: 2, mode: 'shape' });
  });

  test('and a tenant in another tier may use what that one may', async () => {
    const config = await live();
    expect(mayUse(config.view, 'ocr', 'stranger')).toBe(false);
    config.set(tenant('stranger'), values({ tier: 'pro' }));
    expect(mayUse(config.view, 'ocr', 'stranger')).toBe(true);
    expect(config.view.tenants.get('stranger')).toMatchObject({ keys: [], allow: null });
    config.set(tenant('stranger'), values({}));
    expect(config.view.tenants.has('stranger')).toBe(false);
  });

  test('for the capacity of a type; a pause by hand is kept apart from it', async () => {
    const config = await live();
    config.set(type('ocr'), values({ 'capacity.rate': '0', 'capacity.concurrency': '3' }));
    expect(config.view.types.get('ocr')?.capacity).toEqual({ ratePerSecond: 0, burst: 20, concurrency: 3 });
    expect(config.isPaused('ocr')).toBe(false);
    config.set(type('ocr'), values({ paused: '1' }));
    expect(config.view.types.get('ocr')?.capacity).toEqual({ ratePerSecond: 20, burst: 20, concurrency: Infinity });
    expect(config.isPaused('ocr')).toBe(true);
    expect(config.ignored(type('ocr'))).toEqual([]);
  });

  test('and the maps that were handed out show it', async () => {
    const config = await live();
    const { tenants, tiers, types } = config.view;
    config.set(tenant('acme'), values({ tier: 'free' }));
    config.set(tier('pro'), values({ burst: '9' }));
    config.set(type('ocr'), values({ 'capacity.burst': '9' }));
    expect(tenants.get('acme')?.tier).toBe('free');
    expect(tiers.get('pro')?.stated.burst).toBe(9);
    expect(types.get('ocr')?.capacity.burst).toBe(9);
    expect([config.file.tenants.get('acme')?.tier, config.file.tiers.get('pro')?.stated.burst]).toEqual(['pro', 5]);
  });

  test('a change to the same is none', async () => {
    const config = await live();
    expect(config.set(tenant('acme'), values({ rate: '5/s' }))).toBe(true);
    expect(config.set(tenant('acme'), values({ rate: '5/s' }))).toBe(false);
    expect(config.set(tenant('acme'), values({ rate: '6/s' }))).toBe(true);
  });
});

describe('what is stored and means nothing by this file', () => {
  test.each<[OverrideSubject, Record<string, string>, string[]]>([
    [tenant('acme'), { tier: 'gone', rate: '3/s' }, ['tier']],
    [tenant('acme'), { 'types.gone.rate': '3/s', depth: '3' }, ['types.gone.rate']],
    [tenant('acme'), { weight: '-1', burst: 'many', rate: '1e9/s' }, ['weight', 'burst', 'rate']],
    [
      tenant('acme'),
      { weighty: '1', 'types.ocr': '1', 'types.ocr.rate.x': '1', __proto__x: '1' },
      ['weighty', 'types.ocr', 'types.ocr.rate.x', '__proto__x'],
    ],
    [tier('gone'), { rate: '3/s' }, ['rate']],
    [type('gone'), { 'capacity.rate': '3/s' }, ['capacity.rate']],
    [type('ocr'), { rate: '3/s' }, ['rate']],
  ])('of %j, %j: %j is told and left out', async (subject, stored, ignored) => {
    const config = await live();
    config.set(subject, values(stored));
    expect(config.ignored(subject)).toEqual(ignored);
    const { file, view } = config;
    expect(view.types).toEqual(file.types);
    expect(view.tiers).toEqual(file.tiers);
    const { tier: held, weight } = {
      tier: view.tenants.get('acme')?.tier,
      weight: effectiveProfile(view, 'chat', 'acme').weight,
    };
    expect([held, weight]).toEqual(['pro', 8]);
  });
});

describe('every value says where it comes from', () => {
  test('of a tenant', async () => {
    const config = await live();
    config.set(tenant('acme'), values({ depth: '7', 'types.ocr.burst': '2' }));
    config.set(tier('pro'), values({ maxWait: '5m' }));
    const own = 'tenants.acme';
    expect(tenantOrigins(config, 'acme', 'ocr')).toEqual({
      rate: { value: '2/s', from: 'file', at: `${own}.types.ocr` },
      burst: { value: 2, from: 'override', at: `${own}.types.ocr` },
      jobRate: { value: 'unlimited', from: 'default', at: 'defaults' },
      depth: { value: 7, from: 'override', at: own },
      maxBytes: { value: '64MB', from: 'default', at: 'defaults' },
      maxWait: { value: '5m', from: 'tier', at: 'tiers.pro' },
      weight: { value: 8, from: 'file', at: own },
      concurrency: { value: 'unlimited', from: 'default', at: 'defaults' },
      mode: { value: 'shape', from: 'type', at: 'types.ocr' },
    });
    expect(tenantOrigins(config, 'acme', 'chat').mode).toEqual({ value: 'police', from: 'type', at: 'types.chat' });
  });

  test('of a tenant’s tier', async () => {
    const config = await live();
    expect(tierOrigin(config, 'acme')).toEqual({ value: 'pro', from: 'file', at: 'tenants.acme' });
    expect(tierOrigin(config, 'x y')).toEqual({ value: 'free', from: 'default', at: 'defaultTier' });
    config.set(tenant('x y'), values({ tier: 'pro' }));
    expect(tierOrigin(config, 'x y')).toEqual({ value: 'pro', from: 'override', at: 'tenants["x y"]' });
  });

  test('of a tier and of a type', async () => {
    const config = await live();
    config.set(tier('pro'), values({ rate: '1/m', mode: 'police' }));
    expect(tierOriginsOf(config, 'pro')).toMatchObject({
      rate: { value: '1/m', from: 'override', at: 'tiers.pro' },
      burst: { value: 5, from: 'file', at: 'tiers.pro' },
      depth: { value: 1000, from: 'default', at: 'defaults' },
      mode: { value: 'police', from: 'override', at: 'tiers.pro' },
    });
    expect(tierOriginsOf(config, 'free')).not.toHaveProperty('mode');
    config.set(type('ocr'), values({ 'capacity.concurrency': '2' }));
    expect(capacityOrigins(config, 'ocr')).toEqual({
      rate: { value: '20/s', from: 'file', at: 'types.ocr.capacity' },
      burst: { value: 20, from: 'file', at: 'types.ocr.capacity' },
      concurrency: { value: 2, from: 'override', at: 'types.ocr.capacity' },
    });
  });

  test('and is the value that holds, whatever is overridden', async () => {
    const config = await live();
    config.set(tenant('acme'), values({ rate: '1/m', 'types.chat.maxBytes': '1KB', maxWait: '250ms' }));
    for (const name of ['ocr', 'chat']) {
      const profile = effectiveProfile(config.view, name, 'acme');
      const said = tenantOrigins(config, 'acme', name);
      expect([said.burst?.value, said.depth?.value, said.weight?.value, said.mode?.value]).toEqual([
        profile.burst,
        profile.depth,
        profile.weight,
        profile.mode,
      ]);
    }
    expect(tenantOrigins(config, 'acme', 'chat')).toMatchObject({ rate: { value: '1/m' }, maxBytes: { value: '1KB' } });
  });
});

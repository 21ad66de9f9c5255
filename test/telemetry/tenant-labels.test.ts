import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OTHER_TENANTS, TenantLabels } from '../../src/telemetry/tenant-labels.js';

test('the first tenants keep their names, the rest is other', () => {
  const labels = new TenantLabels(2);
  expect(['a', 'b', 'c', 'a', 'b', 'd'].map((tenant) => labels.of(tenant))).toEqual([
    'a',
    'b',
    'other',
    'a',
    'b',
    'other',
  ]);
});

test('a tenant that is called other takes no place', () => {
  const labels = new TenantLabels(1);
  expect([labels.of(OTHER_TENANTS), labels.of('a')]).toEqual(['other', 'a']);
});

test('whoever comes in whatever order, there are at most as many names as may be, and other', () => {
  fc.assert(
    fc.property(fc.nat(5), fc.array(fc.string()), (most, tenants) => {
      const labels = new TenantLabels(most);
      const shown = tenants.map((tenant) => labels.of(tenant));
      expect(new Set(shown.filter((label) => label !== OTHER_TENANTS)).size).toBeLessThanOrEqual(most);
      expect(tenants.map((tenant) => labels.of(tenant))).toEqual(shown);
    }),
  );
});

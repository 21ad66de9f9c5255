import { expect, test } from 'vitest';
import { MetricRegistry } from '../../src/telemetry/metric-registry.js';
import { RunMetrics } from '../../src/telemetry/run-metrics.js';
import { TenantLabels } from '../../src/telemetry/tenant-labels.js';
import { valueIn } from '../support/exposition.js';

test('how promises were kept is a histogram for each type and basis, early starts below 0', async () => {
  const registry = new MetricRegistry();
  const metrics = new RunMetrics(registry, new TenantLabels(10), []);
  const started = (type: string, basis: string, slipMs: number) =>
    metrics.started({ type, tenant: 'acme' }, { basis, slipMs });
  started('ocr', 'rate', 40);
  started('ocr', 'capacity', 90_000);
  started('ocr', 'capacity', -4000);
  started('chat', 'delay', 7);
  metrics.started({ type: 'ocr', tenant: 'acme' }, undefined);

  const text = await registry.text();
  const slip = (suffix: string, labels: Record<string, string>) =>
    valueIn(text, `headgate_start_slip_seconds_${suffix}`, labels);
  expect(slip('count', {})).toBe(4);
  expect(slip('count', { type: 'ocr', basis: 'capacity' })).toBe(2);
  expect(slip('sum', { type: 'ocr', basis: 'capacity' })).toBe(86);
  expect(slip('bucket', { type: 'ocr', basis: 'capacity', le: '0' })).toBe(1);
  expect(slip('sum', { type: 'ocr', basis: 'rate' })).toBe(0.04);
  expect(slip('count', { type: 'chat', basis: 'delay' })).toBe(1);
  expect(slip('count', { type: 'chat', basis: 'rate' })).toBeUndefined();
});

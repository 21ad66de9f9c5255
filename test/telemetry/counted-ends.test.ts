import { expect, test } from 'vitest';
import { MetricRegistry } from '../../src/telemetry/metric-registry.js';
import { RunMetrics } from '../../src/telemetry/run-metrics.js';
import { TenantLabels } from '../../src/telemetry/tenant-labels.js';
import { valueIn } from '../support/exposition.js';

const job = { id: 'j1', type: 'ocr', tenant: 'acme', attempt: 1 };
const times = { waitMs: 1500, runMs: 20 };

function counted(act: (runs: RunMetrics) => void, named = 10) {
  const registry = new MetricRegistry();
  act(new RunMetrics(registry, new TenantLabels(named), ['ocr']));
  return registry.text();
}

test.each([
  ['completed', 'completed'],
  ['failed', 'failed'],
  ['cancelled', 'cancelled'],
  ['retry', undefined],
  ['return', undefined],
  ['busy', undefined],
])('a run that came to %s ends its job as %s', async (kind, ending) => {
  const text = await counted((runs) => runs.ended({ job, outcome: { kind, value: '' }, verdict: 'settled', ...times }));
  expect(valueIn(text, 'headgate_runs_ended_total', { type: 'ocr', tenant: 'acme', outcome: kind })).toBe(1);
  expect(valueIn(text, 'headgate_jobs_ended_total')).toBe(ending && 1);
  if (ending) expect(valueIn(text, 'headgate_jobs_ended_total', { tenant: 'acme', outcome: ending })).toBe(1);
  expect(valueIn(text, 'headgate_job_wait_seconds_sum', { type: 'ocr', tenant: 'acme' })).toBe(1.5);
  expect(valueIn(text, 'headgate_job_run_seconds_sum', { type: 'ocr', tenant: 'acme' })).toBe(0.02);
  expect(valueIn(text, 'headgate_locks_lost_total', { type: 'ocr' })).toBe(0);
});

test('a run whose lock was lost ends no job', async () => {
  const outcome = { kind: 'completed', value: '1' };
  const text = await counted((runs) => runs.ended({ job, outcome, verdict: 'lost', ...times }));
  expect(valueIn(text, 'headgate_runs_ended_total', { outcome: 'lost' })).toBe(1);
  expect(valueIn(text, 'headgate_locks_lost_total', { type: 'ocr' })).toBe(1);
  expect(valueIn(text, 'headgate_jobs_ended_total')).toBeUndefined();
});

test('jobs that ended without a run are counted by how, and those of unnamed tenants as of others', async () => {
  const text = await counted((runs) => {
    runs.cancelled({ type: 'ocr', tenant: 'acme' }, 5);
    runs.cancelled({ type: 'ocr', tenant: 'late' }, 2);
    const end = { job, reason: '', waitMs: 1, runMs: null };
    runs.unseen([
      { ...end, ending: 'expired' },
      { ...end, ending: 'failed' },
    ]);
  }, 1);
  const of = (tenant: string, outcome: string) => valueIn(text, 'headgate_jobs_ended_total', { tenant, outcome });
  expect([of('acme', 'cancelled'), of('other', 'cancelled'), of('acme', 'expired'), of('acme', 'failed')]).toEqual([
    ...[5, 2, 1, 1],
  ]);
});

import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { METRICS, type MetricRow } from '../../src/telemetry/metric-table.js';
import { metricTable } from '../../src/telemetry/metrics-page.js';

const PAGE = '../../docs/metrics.md';
const rows: readonly MetricRow[] = Object.values(METRICS);

test('docs/metrics.md has every metric of the table, word for word', async () => {
  const page = await readFile(new URL(PAGE, import.meta.url), 'utf8');
  const [before, rest = ''] = page.split('<!-- table: metrics -->');
  const after = rest.slice(rest.indexOf('<!-- end -->'));
  await expect(`${before}<!-- table: metrics -->\n\n${metricTable()}\n\n${after}`).toMatchFileSnapshot(PAGE);
});

test('names say what is counted, and in which unit', () => {
  expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  for (const { kind, name, help } of rows) {
    expect(name).toMatch(/^headgate_[a-z_]+[a-z]$/);
    expect(name.endsWith('_total'), name).toBe(kind === 'counter');
    expect(name).not.toMatch(/_(ms|milliseconds|us)$/);
    if (kind === 'histogram') expect(name).toMatch(/_seconds$/);
    expect(help).toMatch(/^[A-Z1].*[.]$/);
  }
});

test('the bounds of every histogram grow, and nothing else has any', () => {
  for (const { kind, name, buckets = [] } of rows) {
    expect(buckets.length > 0, name).toBe(kind === 'histogram');
    expect(buckets, name).toEqual([...new Set(buckets)].sort((one, other) => one - other));
  }
});

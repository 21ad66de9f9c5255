import { METRICS, type MetricRow } from './metric-table.js';

const EXPORTERS = { api: 'API', worker: 'worker', both: 'both' } as const;

/** Every metric as a row of a Markdown table, in the order of {@link METRICS}. */
export function metricTable(): string {
  const rows: readonly MetricRow[] = Object.values(METRICS);
  const cells = rows.map(({ kind, name, labels, of, buckets = [], help }) => {
    const bounds = buckets.length === 0 ? '' : ` Buckets: ${buckets.join(', ')}.`;
    return [`\`${name}\``, kind, labels.map((label) => `\`${label}\``).join(', '), EXPORTERS[of], `${help}${bounds}`];
  });
  return [['Name', 'Kind', 'Labels', 'Of', 'Meaning'], ['---', '---', '---', '---', '---'], ...cells]
    .map((line) => `| ${line.join(' | ')} |`)
    .join('\n');
}

import type { Entitlement } from './fairness.js';
import { type Column, percent, tableLines } from './table.js';
import type { Findings } from './verdict.js';

/** The whole outcome of the demo: what is shown at the end, and what `--json` writes. */
export interface Summary {
  readonly passed: boolean;
  readonly faults: readonly string[];
  readonly slots: number;
  /** Pages per second that the workers read together, measured before the run. */
  readonly serviceRatePerSecond: number;
  /** Jobs per second that all tenants sent together. */
  readonly offeredPerSecond: number;
  readonly tenants: readonly TenantSummary[];
  readonly findings: Findings;
}

export interface TenantSummary extends Omit<Entitlement, 'ratePerSecond'> {
  /** Cost units per second; `null` when only the fair share limits. */
  readonly ratePerSecond: number | null;
  readonly offeredPerSecond: number;
  readonly admitted: number;
  readonly refused: number;
  readonly completed: number;
}

const COLUMNS: readonly Column[] = [
  { title: 'tenant', align: 'left' },
  { title: 'weight', align: 'right' },
  { title: 'limit', align: 'right' },
  { title: 'sent', align: 'right' },
  { title: 'refused', align: 'right' },
  { title: 'served', align: 'right' },
  { title: 'deserved', align: 'right' },
  { title: 'off by', align: 'right' },
  { title: 'bound by', align: 'left' },
];

/** The summary as lines for a person. */
export function summaryLines(summary: Summary): string[] {
  const { findings, serviceRatePerSecond, offeredPerSecond } = summary;
  const times = (offeredPerSecond / serviceRatePerSecond).toFixed(1);
  const { fairness } = findings;
  return [
    `Offered ${offeredPerSecond.toFixed(1)} pages a second, ${times} times the ${serviceRatePerSecond.toFixed(1)} that the workers read before.`,
    ...(fairness === undefined
      ? []
      : [
          `For ${fairness.seconds.toFixed(1)} s every tenant had pages waiting. In that time the workers read ${fairness.servedPerSecond.toFixed(2)} pages a second and were busy ${percent(fairness.slotsBusy, 1)} of it.`,
        ]),
    '',
    ...tableLines(
      COLUMNS,
      summary.tenants.map((tenant) => row(tenant, summary)),
    ),
    '',
    `${findings.pagesRead} pages read, ${percent(findings.wordAccuracy, 2)} of their words right.`,
    ...(summary.passed
      ? ['Every tenant got what it deserves.']
      : summary.faults.map((fault) => `Not as it should be: ${fault}`)),
  ];
}

function row(tenant: TenantSummary, { findings }: Summary): string[] {
  const verdict = findings.fairness?.tenants.find((one) => one.tenant === tenant.tenant);
  return [
    tenant.tenant,
    String(tenant.weight),
    tenant.ratePerSecond === null ? 'none' : `${tenant.ratePerSecond}/s`,
    String(tenant.admitted + tenant.refused),
    String(tenant.refused),
    verdict === undefined ? '-' : `${verdict.servedPerSecond.toFixed(2)}/s`,
    verdict === undefined ? '-' : `${verdict.deservedPerSecond.toFixed(2)}/s`,
    verdict === undefined ? '-' : `${verdict.offBy < 0 ? '-' : '+'}${percent(Math.abs(verdict.offBy), 1)}`,
    verdict === undefined ? '-' : verdict.boundBy,
  ];
}

import { type Entitlement, fairness } from './fairness.js';
import { costStarted, type ServedJob } from './served-job.js';
import { type Column, percent, tableLines } from './table.js';

/** What is known of one tenant at one instant. */
export interface TenantProgress extends Entitlement {
  readonly jobs: readonly ServedJob[];
  /** Jobs that the door answered 429. */
  readonly refused: number;
  /** When its next job is promised to start, milliseconds since 1970; `null` when nothing is known to wait. */
  readonly nextStartAtMs: number | null;
}

const COLUMNS: readonly Column[] = [
  { title: 'tenant', align: 'left' },
  { title: 'weight', align: 'right' },
  { title: 'limit', align: 'right' },
  { title: 'waiting', align: 'right' },
  { title: 'running', align: 'right' },
  { title: 'done', align: 'right' },
  { title: 'refused', align: 'right' },
  { title: 'rate', align: 'right' },
  { title: 'next start', align: 'right' },
  { title: 'received', align: 'right' },
  { title: 'deserved', align: 'right' },
];

/** Starts within this long make the rate that is shown. */
const RATE_WINDOW_MS = 10_000;

/**
 * The live table: a line of titles and one per tenant. `received` and `deserved` are parts of what was served to all
 * since `sinceMs`.
 */
export function liveTable(tenants: readonly TenantProgress[], sinceMs: number, nowMs: number, slots: number): string[] {
  const all = tenants.flatMap(({ jobs }) => jobs);
  const untilMs = Math.max(nowMs, sinceMs + 1);
  const soFar = fairness(tenants, all, { fromMs: sinceMs, untilMs }, slots);
  const recent = { fromMs: Math.max(sinceMs, untilMs - RATE_WINDOW_MS), untilMs };
  const rows = tenants.map((tenant, index) => {
    const { servedPerSecond = 0, deservedPerSecond = 0 } = soFar.tenants[index] ?? {};
    const recentRate = (1000 * costStarted(tenant.jobs, recent)) / (untilMs - recent.fromMs);
    return [
      tenant.tenant,
      String(tenant.weight),
      tenant.ratePerSecond === Infinity ? 'none' : `${tenant.ratePerSecond}/s`,
      ...counts(tenant.jobs).map(String),
      String(tenant.refused),
      `${recentRate.toFixed(2)}/s`,
      tenant.nextStartAtMs === null ? '-' : `${(Math.max(0, tenant.nextStartAtMs - nowMs) / 1000).toFixed(1)} s`,
      percent(servedPerSecond / soFar.servedPerSecond),
      percent(deservedPerSecond / soFar.servedPerSecond),
    ];
  });
  return tableLines(COLUMNS, rows);
}

/** How many wait, run and are done. */
function counts(jobs: readonly ServedJob[]): [number, number, number] {
  const started = jobs.filter(({ startedAtMs }) => startedAtMs !== null).length;
  const ended = jobs.filter(({ endedAtMs }) => endedAtMs !== null).length;
  return [jobs.length - started, started - ended, ended];
}

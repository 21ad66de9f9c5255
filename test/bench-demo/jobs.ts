import type { ServedJob } from '../../bench/demo/served-job.js';

/** A job of `tenant`, admitted, started and ended at these milliseconds. */
export function job(
  tenant: string,
  admittedAtMs: number,
  startedAtMs: number | null,
  endedAtMs: number | null = null,
): ServedJob {
  return { tenant, cost: 1, admittedAtMs, startedAtMs, endedAtMs };
}

/** `count` jobs of `tenant`, all admitted at 0, of which one starts every `everyMs` and runs for `runsMs`. */
export function steadyJobs(tenant: string, count: number, everyMs: number, runsMs: number): ServedJob[] {
  return Array.from({ length: count }, (_, n) => job(tenant, 0, n * everyMs, n * everyMs + runsMs));
}

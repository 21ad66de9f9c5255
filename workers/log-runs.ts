import type { Logger } from '../src/telemetry/logger.js';
import type { Pool } from './pool.js';
import type { EndedRun } from './runner.js';

/** One line per run that ended, with what an operator asks of it; payloads and results never. */
export function logRuns(pool: Pool, log: Logger): void {
  pool.on('completed', (run) => log.info(fieldsOf(run), 'job completed'));
  pool.on('failed', (run) => log.warn({ ...fieldsOf(run), reason: run.outcome.value }, 'job failed'));
  pool.on('released', (run) => log.info({ ...fieldsOf(run), reason: run.outcome.value }, 'job released'));
  pool.on('stalled', (ids) => log.warn({ ids }, 'jobs of a worker that is gone were taken back'));
  pool.on('error', (error) => log.error({ err: error }, 'pool'));
}

function fieldsOf({ job, outcome, verdict, waitMs, runMs }: EndedRun): Record<string, unknown> {
  const { id, tenant, type, attempt, requestId } = job;
  const outcomeShown = verdict === 'lost' ? 'lost' : outcome.kind;
  return { job: id, tenant, type, attempt, requestId, outcome: outcomeShown, waitMs, runMs: Math.round(runMs) };
}

import type { Logger } from '../src/telemetry/logger.js';
import { logRun, logUnseen } from '../src/telemetry/run-line.js';
import type { Pool } from './pool.js';

/** One line per run that ended and per job that ended without one, and for what goes wrong beside them. */
export function logRuns(pool: Pool, log: Logger): void {
  for (const event of ['completed', 'failed', 'released'] as const) pool.on(event, (run) => logRun(log, run));
  pool.on('unseen', (ends) => logUnseen(log, ends));
  pool.on('stalled', (ids) => log.warn({ ids }, 'jobs of a worker that is gone were taken back'));
  pool.on('error', (error) => log.error({ err: error }, 'pool'));
}

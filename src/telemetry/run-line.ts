import type { Logger } from './logger.js';

/** A run that ended, as far as logs and metrics tell of it. Durations in milliseconds. */
export interface SeenRun {
  readonly job: {
    readonly id: string;
    readonly type: string;
    readonly tenant: string;
    readonly attempt: number;
    readonly requestId?: string;
  };
  readonly outcome: { readonly kind: string; readonly value: string };
  readonly verdict: 'settled' | 'lost';
  readonly waitMs: number;
  readonly runMs: number;
}

/** One line for a run that ended, with what an operator asks of it; payloads and results never. */
export function logRun(log: Logger, { job, outcome, verdict, waitMs, runMs }: SeenRun): void {
  const { id, tenant, type, attempt, requestId } = job;
  const shown = verdict === 'lost' ? 'lost' : outcome.kind;
  const fields = { job: id, tenant, type, attempt, requestId, outcome: shown, waitMs, runMs: Math.round(runMs) };
  if (shown === 'completed') log.info(fields, 'job completed');
  // What a run completed with is the tenant's, even where it does not count.
  else if (outcome.kind === 'completed') log.info(fields, 'job released');
  else log.info({ ...fields, reason: outcome.value }, ENDED.has(shown) ? 'job failed' : 'job released');
}

/** The end of a job that none of its workers saw, as far as logs tell of it. Durations in milliseconds. */
export interface LoggedEnd {
  readonly job: SeenRun['job'];
  readonly ending: 'expired' | 'failed' | 'cancelled';
  readonly reason: string;
  readonly waitMs: number;
  /** `null` where the job never ran. */
  readonly runMs: number | null;
}

/** One line for each job that ended without a worker that could say so. */
export function logUnseen(log: Logger, ends: readonly LoggedEnd[]): void {
  for (const { job, ending, reason, waitMs, runMs } of ends) {
    const { id, tenant, type, attempt, requestId } = job;
    const fields = {
      ...{ job: id, tenant, type, attempt, requestId, outcome: ending, waitMs },
      ...(runMs !== null && { runMs }),
    };
    if (ending === 'expired') log.info(fields, 'job expired');
    else log.info({ ...fields, reason }, 'job failed');
  }
}

const ENDED: ReadonlySet<string> = new Set(['failed', 'cancelled']);

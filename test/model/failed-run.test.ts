import { describe, expect, it } from 'vitest';
import { afterFailure, type FailedRun, type RetryPlan } from '../../src/model/failed-run.js';

const PLAN: RetryPlan = {
  attempts: 3,
  backoff: { type: 'exponential', delayMs: 1000, maxMs: 60_000 },
  retry: 'back',
  maxHoldMs: 5000,
  maxReturns: 2,
};
const RUN: FailedRun = { message: 'no', final: false, attempt: 1, returns: 0, retries: {} };
const BUSY = { retryAfterMs: 1200.5, scope: 'bucket' } as const;
const retried = (delayMs: number, front = false) => ({ kind: 'retry', value: 'no', delayMs, front });
const failed = { kind: 'failed', value: 'no' };

describe('a run that failed', () => {
  it.each<[says: string, run: Partial<FailedRun>, plan: Partial<RetryPlan>, becomes: object]>([
    ['is tried again after a pause', {}, {}, retried(1000)],
    ['waits twice as long after the second time', { attempt: 2 }, {}, retried(2000)],
    ['joins the front where the type says so', {}, { retry: 'front' }, retried(1000, true)],
    ['is not tried again after the last attempt', { attempt: 3 }, {}, failed],
    ['is not tried again when nothing can help', { final: true }, {}, failed],
    ['may allow itself fewer attempts than its type', { retries: { attempts: 1 } }, {}, failed],
    ['may not allow itself more', { attempt: 3, retries: { attempts: 9 } }, {}, failed],
    ['has a pause of its own', { retries: { backoff: { type: 'fixed', delayMs: 7 } } }, {}, retried(7)],
    [
      'waits no longer than its type allows',
      { retries: { backoff: { type: 'fixed', delayMs: 1e6 } } },
      {},
      retried(60_000),
    ],
    [
      'holds its bucket for a busy upstream',
      { busy: BUSY },
      {},
      { kind: 'busy', value: 'no', holdMs: 1201, scope: 'bucket' },
    ],
    [
      'holds it no longer than its type allows',
      { busy: { retryAfterMs: Infinity, scope: 'type' } },
      {},
      { kind: 'busy', value: 'no', holdMs: 5000, scope: 'type' },
    ],
    ['uses no attempt for a busy upstream', { busy: BUSY, attempt: 3, returns: 1 }, {}, { kind: 'busy' }],
    ['uses one once it came back too often', { busy: BUSY, returns: 2 }, {}, retried(1000)],
    ['fails when that was the last', { busy: BUSY, attempt: 3, returns: 2 }, {}, failed],
  ])('%s', (_says, run, plan, becomes) => {
    expect(afterFailure({ ...RUN, ...run }, { ...PLAN, ...plan }, () => 0)).toMatchObject(becomes);
  });
});

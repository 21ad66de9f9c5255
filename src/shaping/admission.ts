import type { Admission, JobView } from '../model/verdict.js';
import { msOf } from './ms-of.js';
import { releaseBetween } from './release-between.js';
import type { AdmitVerdict } from './scripts.js';

/** What the script said of one job, in the words of the model. `unixMs` is the clock of Redis at that moment. */
export function admissionOf(verdict: AdmitVerdict, unixMs: number, replayed: JobView | undefined): Admission {
  switch (verdict.kind) {
    case 'admitted':
      return {
        verdict: 'admitted',
        id: verdict.id,
        replayed: false,
        state: verdict.state,
        promise: {
          position: verdict.position === 0 ? null : verdict.position,
          releaseAtMs: unixMs + msOf(verdict.waitUs),
          waitMs: msOf(verdict.waitUs),
          basis: verdict.basis,
          releaseBetweenMs: releaseBetween(verdict.between, unixMs),
        },
      };
    case 'replayed':
      return {
        verdict: 'admitted',
        id: verdict.id,
        replayed: true,
        state: replayed?.state ?? 'completed',
        promise: replayed?.promise ?? null,
      };
    case 'rejected':
      return rejectionOf(verdict, unixMs);
  }
}

function rejectionOf(verdict: AdmitVerdict & { kind: 'rejected' }, unixMs: number): Admission {
  const { reason, waitUs } = verdict;
  const retryAfterMs = verdict.retryUs === null ? null : msOf(verdict.retryUs);
  switch (reason) {
    case 'bucket_full':
      return { verdict: 'rejected', reason, limit: verdict.limit === 'maxBytes' ? 'maxBytes' : 'depth', retryAfterMs };
    case 'wait_too_long':
      return { verdict: 'rejected', reason, waitMs: msOf(waitUs), retryAfterMs: retryAfterMs ?? 0 };
    case 'rate_limited':
      return { verdict: 'rejected', reason, retryAfterMs };
    case 'cost_exceeds_max':
      return { verdict: 'rejected', reason, max: Number(verdict.limit) };
    case 'deadline_unreachable':
      return { verdict: 'rejected', reason, earliestStartAtMs: unixMs + msOf(waitUs) };
    case 'deadline_past':
    case 'idempotency_mismatch':
      return { verdict: 'rejected', reason };
    case 'door_closed':
      throw new Error('the refusal that closed the door stands in the place of this one');
  }
}

import { formatPath, type Path } from '../config/problem.js';
import type { Rejection } from '../model/verdict.js';
import type { RouteParts } from './http-app.js';
import { rfc3339 } from './instant.js';
import { costField } from './police-job.js';
import type { Problem } from './problems.js';
import type { JobAtDoor } from './read-job.js';

/**
 * The problem that answers a rejection.
 *
 * @param at Where the job stands in the body; empty when it is the body.
 */
export function rejectionProblem(
  { keeper }: Pick<RouteParts, 'keeper'>,
  rejection: Rejection,
  { type, tenant }: Pick<JobAtDoor, 'type' | 'tenant'>,
  at: Path,
): Problem {
  const bucket = `The queue of tenant ${JSON.stringify(tenant)} for type ${JSON.stringify(type)}`;
  switch (rejection.reason) {
    case 'bucket_full': {
      const limit = rejection.limit === 'depth' ? 'jobs' : 'bytes of payload';
      const retryAfterMs = wholeMs(rejection.retryAfterMs);
      return { code: 'bucket_full', detail: `${bucket} holds as many ${limit} as it may.`, retryAfterMs };
    }
    case 'wait_too_long': {
      const wait = wholeMs(rejection.waitMs);
      const detail = `${bucket} is ${wait === null ? 'endlessly' : `${wait} ms`} long, which is more than its maxWait.`;
      return { code: 'wait_too_long', detail, retryAfterMs: wholeMs(rejection.retryAfterMs) };
    }
    case 'rate_limited': {
      const retryAfterMs = wholeMs(rejection.retryAfterMs);
      const detail = `Tenant ${JSON.stringify(tenant)} is at its rate for type ${JSON.stringify(type)}.`;
      return { code: 'rate_limited', detail, retryAfterMs };
    }
    case 'cost_exceeds_max': {
      const { max } = rejection;
      const field = costField(keeper.door.type(type)?.cost, at);
      const detail = `\`${field}\` gives a cost above ${max}, the burst of tenant ${JSON.stringify(tenant)} for its type.`;
      return { code: 'cost_exceeds_max', field, detail, max };
    }
    case 'deadline_unreachable': {
      const earliestStartAt = rfc3339(rejection.earliestStartAtMs);
      const detail = `At the rate of its bucket the job cannot start before ${earliestStartAt ?? 'the end of time'}.`;
      const field = formatPath([...at, 'startBy']);
      return { code: 'deadline_unreachable', field, detail, ...(earliestStartAt === null ? {} : { earliestStartAt }) };
    }
    case 'idempotency_mismatch':
      return {
        code: 'idempotency_mismatch',
        field: at.length === 0 ? 'Idempotency-Key' : formatPath([...at, 'idempotencyKey']),
        detail: 'Another job with another payload was posted under this idempotency key.',
      };
    case 'deadline_past': {
      const field = formatPath([...at, 'startBy']);
      return { code: 'deadline_past', field, detail: `\`${field}\` has already passed.` };
    }
  }
}

/** Whole milliseconds, rounded up; `null` when there is no end to the wait. */
function wholeMs(ms: number | null): number | null {
  return ms !== null && Number.isFinite(ms) ? Math.max(0, Math.ceil(ms)) : null;
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { JobView } from '../model/verdict.js';
import type { RouteParts } from './http-app.js';
import { preferredWaitS } from './prefer-wait.js';
import { accepted, type Checked, type Problem, refused } from './problems.js';
import { hasEnded, type Waited, waitForEnd } from './wait-for-end.js';

/** A wait that a request asked for with `Prefer: wait=…` and got; `undefined` when it is answered at once. */
export type GrantedWait =
  | {
      /** Waits for the job to end, and tells the caller that his preference was heard. */
      untilEnd(job: Pick<JobView, 'tenant' | 'id'> | JobView, reply: FastifyReply): Promise<Waited>;
      /** Gives the place up. To be called in any case. */
      leave(): void;
    }
  | undefined;

/** For a job that has ended while its caller waited, and of which nothing is kept any more. */
export const NO_LONGER_KEPT: Problem = {
  code: 'job_not_found',
  detail: 'The job has ended, and its result is no longer kept.',
};

/**
 * Grants a request the wait that it prefers. Where everybody together takes all places, the preference is passed over, as
 * one may be; a tenant who takes all of his own is told so.
 */
export function grantWait(
  { shaping, following }: Pick<RouteParts, 'shaping' | 'following'>,
  request: FastifyRequest,
  tenant: string,
): Checked<GrantedWait> {
  const seconds = preferredWaitS(request.headers.prefer);
  if (!seconds.ok) return seconds;
  const { feed, closing, waits } = following;
  if (seconds.value === 0 || feed === undefined) return accepted(undefined);
  const seat = waits.take(tenant);
  if (!seat.taken) return seat.full === 'tenant' ? refused(TOO_MANY_WAITING) : accepted(undefined);
  return accepted({
    untilEnd: async (job, reply) => {
      reply.header('preference-applied', `wait=${seconds.value}`);
      if ('state' in job && hasEnded(job.state)) return { kind: 'ended', job };
      return waitForEnd({ shaping, feed, closing }, job, { waitMs: seconds.value * 1000, caller: reply.raw });
    },
    leave: seat.leave,
  });
}

/** Nobody knows when one of the tenant's own waits ends. */
const TOO_MANY_WAITING: Problem = {
  code: 'too_many_waiting',
  detail: 'The tenant waits for as many jobs as it may: send the request without `Prefer: wait`.',
  retryAfterMs: null,
};

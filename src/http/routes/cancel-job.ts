import { Type } from 'typebox';
import { madeAtMs, parseJobId } from '../../shaping/job-id.js';
import { principalOf } from '../first-look.js';
import type { HttpApp, RouteParts } from '../http-app.js';
import { isJobId, NO_SUCH_JOB } from '../job-id.js';
import { namedTenant } from '../named-tenant.js';
import { replyProblem } from '../reply-problem.js';
import { JobParams, PROBLEM_ANSWERS, TenantQuery } from '../request-schemas.js';

const Cancelled = Type.Object({ id: Type.String(), state: Type.Literal('cancelled') });
const CancelRequested = Type.Object({
  id: Type.String(),
  state: Type.Literal('active'),
  cancelRequested: Type.Literal(true),
});

/** `DELETE /v1/jobs/:id`: cancels a job that has not started, asks a running one to stop. */
export function cancelJob(app: HttpApp, { shaping, onCancelled }: RouteParts): void {
  app.delete(
    '/v1/jobs/:id',
    {
      schema: {
        params: JobParams,
        querystring: TenantQuery,
        response: { 200: Cancelled, 202: CancelRequested, ...PROBLEM_ANSWERS },
      },
    },
    async (request, reply) => {
      if (request.body !== undefined) {
        return replyProblem(reply, { code: 'invalid_field', field: 'body', detail: 'DELETE takes no body.' });
      }
      const tenant = namedTenant(principalOf(request), request.query.tenant, 'tenant');
      if (!tenant.ok) return replyProblem(reply, tenant.problem);
      const { id } = request.params;
      const cancellation = isJobId(id) ? await shaping.cancel(tenant.value, id) : 'not_found';
      switch (cancellation) {
        case 'cancelled': {
          const { type, waitMs } = lifeOf(id);
          onCancelled({ type, tenant: tenant.value }, 1);
          request.log.info({ job: id, tenant: tenant.value, type, waitMs, outcome: cancellation }, 'job cancelled');
          return reply.code(200).send({ id, state: 'cancelled' });
        }
        case 'cancel_requested':
          return reply.code(202).send({ id, state: 'active', cancelRequested: true });
        case 'already_ended':
          return replyProblem(reply, { code: 'already_ended', detail: 'The job has ended; nothing was changed.' });
        case 'not_found':
          return replyProblem(reply, NO_SUCH_JOB);
      }
    },
  );
}

/** What the id of a job says of it. */
function lifeOf(id: string): { readonly type: string; readonly waitMs?: number } {
  const home = parseJobId(id);
  return home ? { type: home.type, waitMs: Math.max(0, Date.now() - madeAtMs(id)) } : { type: '' };
}

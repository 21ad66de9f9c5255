import { principalOf } from '../first-look.js';
import type { HttpApp, RouteParts } from '../http-app.js';
import { JobResource, jobResource } from '../job-answer.js';
import { isJobId, NO_SUCH_JOB } from '../job-id.js';
import { namedTenant } from '../named-tenant.js';
import { replyProblem } from '../reply-problem.js';
import { JobParams, PROBLEM_ANSWERS, TenantQuery } from '../request-schemas.js';

/** `GET /v1/jobs/:id`: one job of the tenant's. */
export function getJob(app: HttpApp, { shaping }: RouteParts): void {
  app.get(
    '/v1/jobs/:id',
    {
      schema: { params: JobParams, querystring: TenantQuery, response: { 200: JobResource, ...PROBLEM_ANSWERS } },
    },
    async (request, reply) => {
      const tenant = namedTenant(principalOf(request), request.query.tenant, 'tenant');
      if (!tenant.ok) return replyProblem(reply, tenant.problem);
      const { id } = request.params;
      const view = isJobId(id) ? await shaping.job(tenant.value, id) : undefined;
      if (view === undefined) return replyProblem(reply, NO_SUCH_JOB);
      return reply.code(200).send(jobResource(view));
    },
  );
}

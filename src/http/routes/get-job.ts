import type { FastifyReply } from 'fastify';
import type { JobView } from '../../model/verdict.js';
import { RedisUnavailable } from '../../redis/outage.js';
import { principalOf } from '../first-look.js';
import type { HttpApp, RouteParts } from '../http-app.js';
import { JobResource, jobResource } from '../job-answer.js';
import { isJobId, NO_SUCH_JOB } from '../job-id.js';
import { namedTenant } from '../named-tenant.js';
import { replyProblem } from '../reply-problem.js';
import { JobParams, PROBLEM_ANSWERS, TenantQuery } from '../request-schemas.js';
import { type GrantedWait, grantWait } from '../wait-grant.js';

/** `GET /v1/jobs/:id`: one job of the tenant's, once it has ended where the caller would rather wait for that. */
export function getJob(app: HttpApp, parts: RouteParts): void {
  app.get(
    '/v1/jobs/:id',
    {
      schema: { params: JobParams, querystring: TenantQuery, response: { 200: JobResource, ...PROBLEM_ANSWERS } },
    },
    async (request, reply) => {
      const tenant = namedTenant(principalOf(request), request.query.tenant, 'tenant');
      if (!tenant.ok) return replyProblem(reply, tenant.problem);
      const wait = grantWait(parts, request, tenant.value);
      if (!wait.ok) return replyProblem(reply, wait.problem);
      try {
        const job = await readJob(parts, tenant.value, request.params.id, reply, wait.value);
        return job === undefined ? replyProblem(reply, NO_SUCH_JOB) : reply.code(200).send(jobResource(job));
      } finally {
        wait.value?.leave();
      }
    },
  );
}

async function readJob(
  { shaping }: RouteParts,
  tenant: string,
  id: string,
  reply: FastifyReply,
  wait: GrantedWait,
): Promise<JobView | undefined> {
  const job = isJobId(id) ? await shaping.job(tenant, id) : undefined;
  if (job === undefined || wait === undefined) return job;
  const waited = await wait.untilEnd(job, reply);
  if (waited.kind === 'unknown') throw new RedisUnavailable('the job could not be looked at again');
  if (waited.kind === 'left') return job;
  return waited.kind === 'gone' ? undefined : waited.job;
}

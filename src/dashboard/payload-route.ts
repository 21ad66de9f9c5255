import { principalOf } from '../http/first-look.js';
import type { HttpApp } from '../http/http-app.js';
import { NO_SUCH_JOB } from '../http/job-id.js';
import { namedTenant } from '../http/named-tenant.js';
import { replyProblem } from '../http/reply-problem.js';
import { JobParams, TenantQuery } from '../http/request-schemas.js';

/** The payload of one of a tenant's jobs, as JSON text; `undefined` when there is no such job. */
export type ReadPayload = (tenant: string, id: string) => Promise<string | undefined>;

/** `GET /dashboard/jobs/:id/payload`: what a job was given, for whoever asks to see it. */
export function payloadRoute(app: HttpApp, payload: ReadPayload): void {
  app.get(
    '/dashboard/jobs/:id/payload',
    { exposeHeadRoute: false, schema: { hide: true, params: JobParams, querystring: TenantQuery } },
    async (request, reply) => {
      const tenant = namedTenant(principalOf(request), request.query.tenant, 'tenant');
      if (!tenant.ok) return replyProblem(reply, tenant.problem);
      const data = await payload(tenant.value, request.params.id);
      if (data === undefined) return replyProblem(reply, NO_SUCH_JOB);
      return reply.code(200).send({ data: JSON.parse(data) });
    },
  );
}

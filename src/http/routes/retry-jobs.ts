import { Type } from 'typebox';
import type { Rejection } from '../../model/verdict.js';
import { parseJobId } from '../../shaping/job-id.js';
import { noBody } from '../admin-only.js';
import { principalOf } from '../first-look.js';
import type { HttpApp, RouteParts } from '../http-app.js';
import { JobResource, jobResource } from '../job-answer.js';
import { NO_SUCH_JOB } from '../job-id.js';
import { namedTenant } from '../named-tenant.js';
import type { Problem } from '../problems.js';
import { rejectionProblem } from '../rejection-problem.js';
import { replyProblem } from '../reply-problem.js';
import { JobParams, NoBody, PROBLEM_ANSWERS, RetryQuery, TenantQuery } from '../request-schemas.js';
import { usableType } from '../usable-type.js';

const DEFAULT_LIMIT = 100;

/** The answer to a bulk retry. */
const Retried = Type.Object({
  retried: Type.Integer({ description: 'jobs that failed and wait again' }),
  full: Type.Boolean({ description: 'the bucket had no room for more' }),
  cursor: Type.Optional(Type.String({ description: 'goes on from here; absent when nothing is left' })),
});

/** `POST /v1/jobs/:id/retry`, and `POST /v1/jobs/retry` for many: failed jobs wait again. */
export function retryJobs(app: HttpApp, parts: RouteParts): void {
  const { shaping, keeper } = parts;
  app.post(
    '/v1/jobs/:id/retry',
    {
      schema: {
        params: JobParams,
        querystring: TenantQuery,
        body: NoBody,
        response: { 202: JobResource, ...PROBLEM_ANSWERS },
      },
    },
    async (request, reply) => {
      const tenant = namedTenant(principalOf(request), request.query.tenant, 'tenant');
      if (!tenant.ok) return replyProblem(reply, tenant.problem);
      const empty = noBody(request.body);
      if (!empty.ok) return replyProblem(reply, empty.problem);
      const { id } = request.params;
      const name = parseJobId(id)?.type;
      if (name === undefined || keeper.door.type(name) === undefined) return replyProblem(reply, NO_SUCH_JOB);
      const type = usableType(keeper.door, tenant.value, name, 'type');
      if (!type.ok) return replyProblem(reply, type.problem);
      const retrial = await shaping.retry(tenant.value, id);
      switch (retrial.verdict) {
        case 'not_found':
          return replyProblem(reply, NO_SUCH_JOB);
        case 'not_failed':
          return replyProblem(reply, NOT_FAILED);
        case 'rejected':
          return replyProblem(reply, fullProblem(parts, retrial, name, tenant.value));
        case 'retried': {
          const view = await shaping.job(tenant.value, id);
          if (view === undefined) return replyProblem(reply, NO_SUCH_JOB);
          return reply
            .code(202)
            .header('location', `/v1/jobs/${encodeURIComponent(id)}`)
            .send(jobResource(view));
        }
      }
    },
  );
  app.post(
    '/v1/jobs/retry',
    { schema: { querystring: RetryQuery, body: NoBody, response: { 200: Retried, ...PROBLEM_ANSWERS } } },
    async (request, reply) => {
      const { type: name, cursor, limit = DEFAULT_LIMIT } = request.query;
      const tenant = namedTenant(principalOf(request), request.query.tenant, 'tenant');
      if (!tenant.ok) return replyProblem(reply, tenant.problem);
      const empty = noBody(request.body);
      if (!empty.ok) return replyProblem(reply, empty.problem);
      const type = usableType(keeper.door, tenant.value, name, 'type');
      if (!type.ok) return replyProblem(reply, type.problem);
      const page = { type: name, tenant: tenant.value, limit, ...(cursor === undefined ? {} : { cursor }) };
      const { retried, refusal, cursor: next } = await shaping.retryFailed(page);
      if (refusal && retried === 0) return replyProblem(reply, fullProblem(parts, refusal, name, tenant.value));
      return reply
        .code(200)
        .send({ retried, full: refusal !== undefined, ...(next === undefined ? {} : { cursor: next }) });
    },
  );
}

const NOT_FAILED: Problem = {
  code: 'not_failed',
  detail: 'Only a job that has failed can be retried; nothing was changed.',
};

function fullProblem(parts: RouteParts, refusal: Rejection, type: string, tenant: string): Problem {
  return rejectionProblem(parts, refusal, { type, tenant }, []);
}

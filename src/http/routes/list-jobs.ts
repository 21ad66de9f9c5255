import { Type } from 'typebox';
import { principalOf } from '../first-look.js';
import type { HttpApp, RouteParts } from '../http-app.js';
import { JobResource, jobResource } from '../job-answer.js';
import { namedTenant } from '../named-tenant.js';
import { replyProblem } from '../reply-problem.js';
import { JobsQuery, PROBLEM_ANSWERS } from '../request-schemas.js';
import { usableType } from '../usable-type.js';

const DEFAULT_LIMIT = 50;

/** One page of jobs. */
export const JobList = Type.Object({
  jobs: Type.Array(JobResource),
  cursor: Type.Optional(Type.String({ description: 'fetches the next page; absent on the last' })),
});

/** `GET /v1/jobs`: the tenant's jobs of one type and state, oldest first. */
export function listJobs(app: HttpApp, { shaping, keeper }: RouteParts): void {
  app.get(
    '/v1/jobs',
    {
      schema: { querystring: JobsQuery, response: { 200: JobList, ...PROBLEM_ANSWERS } },
    },
    async (request, reply) => {
      const { type: name, state, cursor, limit = DEFAULT_LIMIT } = request.query;
      const tenant = namedTenant(principalOf(request), request.query.tenant, 'tenant');
      if (!tenant.ok) return replyProblem(reply, tenant.problem);
      const type = usableType(keeper.door, tenant.value, name, 'type');
      if (!type.ok) return replyProblem(reply, type.problem);
      const filter = { type: name, tenant: tenant.value, state, limit, ...(cursor === undefined ? {} : { cursor }) };
      const page = await shaping.jobs(filter);
      const jobs = page.jobs.map(jobResource);
      return reply.code(200).send({ jobs, ...(page.cursor === undefined ? {} : { cursor: page.cursor }) });
    },
  );
}

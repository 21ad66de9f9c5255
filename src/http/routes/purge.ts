import type { FastifyBaseLogger } from 'fastify';
import { Type } from 'typebox';
import type { Administration } from '../../shaping/administration.js';
import { tenantOrder, typeOrder } from '../admin-order.js';
import type { HttpApp } from '../http-app.js';
import { replyProblem } from '../reply-problem.js';
import { NoBody, NoQuery, PROBLEM_ANSWERS, TenantParams, TypeParams, TypeQuery } from '../request-schemas.js';

const Counts = {
  cancelled: Type.Integer({ description: 'jobs that waited or were delayed, and are cancelled now' }),
  more: Type.Boolean({ description: 'there was more than one call cancels: ask again' }),
};
const TenantPurge = Type.Object({
  tenant: Type.String(),
  ...Counts,
  types: Type.Record(Type.String(), Type.Object({ cancelled: Type.Integer() })),
});
const TypePurge = Type.Object({ type: Type.String(), ...Counts });

/** `POST /v1/tenants/:id/purge`, of all types or of `?type=`, and `POST /v1/types/:name/purge`: cancels what waits. */
export function purgeRoutes(app: HttpApp, admin: Administration): void {
  app.post(
    '/v1/tenants/:id/purge',
    {
      schema: {
        params: TenantParams,
        querystring: TypeQuery,
        body: NoBody,
        response: { 200: TenantPurge, ...PROBLEM_ANSWERS },
      },
    },
    async (request, reply) => {
      const order = tenantOrder(admin, request, { ...request.params, ...request.query });
      if (!order.ok) return replyProblem(reply, order.problem);
      const { tenant, types: names } = order.value;
      const purged = await Promise.all(names.map(async (type) => ({ type, ...(await admin.purge(type, tenant)) })));
      for (const { type, cancelled } of purged) logPurge(request.log, { tenant, type, cancelled });
      return reply.code(200).send({
        tenant,
        cancelled: purged.reduce((sum, { cancelled }) => sum + cancelled, 0),
        more: purged.some(({ more }) => more),
        types: Object.fromEntries(purged.map(({ type, cancelled }) => [type, { cancelled }])),
      });
    },
  );
  app.post(
    '/v1/types/:name/purge',
    {
      schema: {
        params: TypeParams,
        querystring: NoQuery,
        body: NoBody,
        response: { 200: TypePurge, ...PROBLEM_ANSWERS },
      },
    },
    async (request, reply) => {
      const type = typeOrder(admin, request, request.params.name);
      if (!type.ok) return replyProblem(reply, type.problem);
      const purged = await admin.purgeType(type.value);
      logPurge(request.log, { type: type.value, cancelled: purged.cancelled });
      return reply.code(200).send({ type: type.value, ...purged });
    },
  );
}

/** The line of all jobs that a purge has ended, in place of one for each. */
function logPurge(log: FastifyBaseLogger, purged: { tenant?: string; type: string; cancelled: number }): void {
  if (purged.cancelled > 0) log.info({ ...purged, outcome: 'cancelled' }, 'jobs purged');
}

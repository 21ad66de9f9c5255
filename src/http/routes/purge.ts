import { Type } from 'typebox';
import type { Administration } from '../../shaping/administration.js';
import { adminOnly, askedTypes, knownType, noBody, tenantId } from '../admin-only.js';
import type { HttpApp } from '../http-app.js';
import { replyProblem } from '../reply-problem.js';
import { NoBody, NoQuery, PROBLEM_ANSWERS, TypeQuery } from '../request-schemas.js';

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
        params: Type.Object({ id: Type.String() }),
        querystring: TypeQuery,
        body: NoBody,
        response: { 200: TenantPurge, ...PROBLEM_ANSWERS },
      },
    },
    async (request, reply) => {
      const may = adminOnly(request);
      if (!may.ok) return replyProblem(reply, may.problem);
      const tenant = tenantId(request.params.id);
      if (!tenant.ok) return replyProblem(reply, tenant.problem);
      const empty = noBody(request.body);
      if (!empty.ok) return replyProblem(reply, empty.problem);
      const names = askedTypes(admin, request.query.type);
      if (!names.ok) return replyProblem(reply, names.problem);
      const purged = await Promise.all(
        names.value.map(async (type) => ({ type, ...(await admin.purge(type, tenant.value)) })),
      );
      return reply.code(200).send({
        tenant: tenant.value,
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
        params: Type.Object({ name: Type.String() }),
        querystring: NoQuery,
        body: NoBody,
        response: { 200: TypePurge, ...PROBLEM_ANSWERS },
      },
    },
    async (request, reply) => {
      const may = adminOnly(request);
      if (!may.ok) return replyProblem(reply, may.problem);
      const type = knownType(admin, request.params.name);
      if (!type.ok) return replyProblem(reply, type.problem);
      const empty = noBody(request.body);
      if (!empty.ok) return replyProblem(reply, empty.problem);
      return reply.code(200).send({ type: type.value, ...(await admin.purgeType(type.value)) });
    },
  );
}

import { Type } from 'typebox';
import type { Administration } from '../../shaping/administration.js';
import { adminOnly, askedTypes, knownType, noBody, tenantId } from '../admin-only.js';
import type { HttpApp } from '../http-app.js';
import { Paused, pausedBecause, typePausedBecause } from '../override-answer.js';
import { replyProblem } from '../reply-problem.js';
import { NoBody, NoQuery, PROBLEM_ANSWERS, TypeQuery } from '../request-schemas.js';

const TenantPause = Type.Object({
  tenant: Type.String(),
  types: Type.Record(Type.String(), Type.Object({ paused: Paused })),
});
const TypePause = Type.Object({ type: Type.String(), paused: Paused });

/**
 * `POST /v1/tenants/:id/pause` and `/resume`, of all types or of `?type=`; `POST /v1/types/:name/pause` and `/resume`.
 * What runs is left alone. Pauses survive restarts, and end by hand alone.
 */
export function pauseRoutes(app: HttpApp, admin: Administration): void {
  for (const verb of ['pause', 'resume'] as const) {
    app.post(
      `/v1/tenants/:id/${verb}`,
      {
        schema: {
          params: Type.Object({ id: Type.String() }),
          querystring: TypeQuery,
          body: NoBody,
          response: { 200: TenantPause, ...PROBLEM_ANSWERS },
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
        const types = await Promise.all(
          names.value.map(async (type) => {
            await admin.pause(type, tenant.value, verb === 'pause');
            return [type, { paused: await pausedBecause(admin, type, tenant.value) }] as const;
          }),
        );
        return reply.code(200).send({ tenant: tenant.value, types: Object.fromEntries(types) });
      },
    );
    app.post(
      `/v1/types/:name/${verb}`,
      {
        schema: {
          params: Type.Object({ name: Type.String() }),
          querystring: NoQuery,
          body: NoBody,
          response: { 200: TypePause, ...PROBLEM_ANSWERS },
        },
      },
      async (request, reply) => {
        const may = adminOnly(request);
        if (!may.ok) return replyProblem(reply, may.problem);
        const type = knownType(admin, request.params.name);
        if (!type.ok) return replyProblem(reply, type.problem);
        const empty = noBody(request.body);
        if (!empty.ok) return replyProblem(reply, empty.problem);
        await admin.pauseType(type.value, verb === 'pause');
        return reply.code(200).send({ type: type.value, paused: typePausedBecause(admin.live, type.value) });
      },
    );
  }
}

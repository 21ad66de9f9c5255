import { Type } from 'typebox';
import type { Administration } from '../../shaping/administration.js';
import { tenantOrder, typeOrder } from '../admin-order.js';
import type { HttpApp } from '../http-app.js';
import { Paused, pausedBecause, typePausedBecause } from '../override-answer.js';
import { replyProblem } from '../reply-problem.js';
import { NoBody, NoQuery, PROBLEM_ANSWERS, TenantParams, TypeParams, TypeQuery } from '../request-schemas.js';

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
          params: TenantParams,
          querystring: TypeQuery,
          body: NoBody,
          response: { 200: TenantPause, ...PROBLEM_ANSWERS },
        },
      },
      async (request, reply) => {
        const order = tenantOrder(admin, request, { ...request.params, ...request.query });
        if (!order.ok) return replyProblem(reply, order.problem);
        const { tenant, types: names } = order.value;
        const types = await Promise.all(
          names.map(async (type) => {
            await admin.pause(type, tenant, verb === 'pause');
            return [type, { paused: await pausedBecause(admin, type, tenant) }] as const;
          }),
        );
        return reply.code(200).send({ tenant, types: Object.fromEntries(types) });
      },
    );
    app.post(
      `/v1/types/:name/${verb}`,
      {
        schema: {
          params: TypeParams,
          querystring: NoQuery,
          body: NoBody,
          response: { 200: TypePause, ...PROBLEM_ANSWERS },
        },
      },
      async (request, reply) => {
        const type = typeOrder(admin, request, request.params.name);
        if (!type.ok) return replyProblem(reply, type.problem);
        await admin.pauseType(type.value, verb === 'pause');
        return reply.code(200).send({ type: type.value, paused: typePausedBecause(admin.live, type.value) });
      },
    );
  }
}

import { Type } from 'typebox';
import type { Administration } from '../../shaping/administration.js';
import { MOST_KEYS } from '../../shaping/tenant-keys.js';
import { tenantOrder } from '../admin-order.js';
import type { HttpApp } from '../http-app.js';
import { rfc3339 } from '../instant.js';
import { replyProblem } from '../reply-problem.js';
import { NoBody, NoQuery, PROBLEM_ANSWERS, TenantParams } from '../request-schemas.js';

const Instant = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);
const KeyFields = { id: Type.String(), prefix: Type.String(), createdAt: Instant };
const NewKeyAnswer = Type.Object({ tenant: Type.String(), ...KeyFields, key: Type.String() });
const KeyList = Type.Object({
  tenant: Type.String(),
  keys: Type.Array(Type.Object({ ...KeyFields, lastUsedAt: Instant })),
});
const Revoked = Type.Object({ tenant: Type.String(), id: Type.String(), revoked: Type.Literal(true) });
const KeyParams = Type.Object({ ...TenantParams.properties, key: Type.String({ description: 'the id of a key' }) });

/** `/v1/tenants/:id/keys`: keys of a tenant, made and revoked while everything runs. */
export function keyRoutes(app: HttpApp, admin: Administration): void {
  const schema = { querystring: NoQuery, params: TenantParams };
  app.post(
    '/v1/tenants/:id/keys',
    { schema: { ...schema, body: NoBody, response: { 201: NewKeyAnswer, ...PROBLEM_ANSWERS } } },
    async (request, reply) => {
      const order = tenantOrder(admin, request, request.params);
      if (!order.ok) return replyProblem(reply, order.problem);
      const { tenant } = order.value;
      const made = await admin.keys.create(tenant);
      if (made === undefined) {
        const detail = `A tenant has at most ${MOST_KEYS} keys: revoke one that is not used.`;
        return replyProblem(reply, { code: 'too_many_keys', detail });
      }
      const { id, prefix, createdAtMs, key } = made;
      return reply.code(201).send({ tenant, id, prefix, createdAt: rfc3339(createdAtMs), key });
    },
  );
  app.get(
    '/v1/tenants/:id/keys',
    { schema: { ...schema, response: { 200: KeyList, ...PROBLEM_ANSWERS } } },
    async (request, reply) => {
      const order = tenantOrder(admin, request, request.params);
      if (!order.ok) return replyProblem(reply, order.problem);
      const { tenant } = order.value;
      const keys = (await admin.keys.list(tenant)).map(({ id, prefix, createdAtMs, lastUsedAtMs }) => {
        const lastUsedAt = lastUsedAtMs === null ? null : rfc3339(lastUsedAtMs);
        return { id, prefix, createdAt: rfc3339(createdAtMs), lastUsedAt };
      });
      return reply.code(200).send({ tenant, keys });
    },
  );
  app.delete(
    '/v1/tenants/:id/keys/:key',
    { schema: { ...schema, params: KeyParams, response: { 200: Revoked, ...PROBLEM_ANSWERS } } },
    async (request, reply) => {
      const order = tenantOrder(admin, request, { id: request.params.id });
      if (!order.ok) return replyProblem(reply, order.problem);
      const { tenant } = order.value;
      const { key: id } = request.params;
      if (await admin.keys.revoke(tenant, id)) return reply.code(200).send({ tenant, id, revoked: true });
      return replyProblem(reply, { code: 'key_not_found', detail: 'The tenant has no key of this id.' });
    },
  );
}

import { Type } from 'typebox';
import type { TypeView } from '../../shaping/shaping.js';
import type { Door, DoorType } from '../door.js';
import { principalOf } from '../first-look.js';
import type { HttpApp, RouteParts } from '../http-app.js';
import { Limit, limitOrNull } from '../limit-or-null.js';
import { namedTenant } from '../named-tenant.js';
import { replyProblem } from '../reply-problem.js';
import { PROBLEM_ANSWERS, TenantQuery } from '../request-schemas.js';
import { usableTypes } from '../usable-type.js';

const TypeResource = Type.Object({
  type: Type.String(),
  maxPayloadBytes: Type.Integer(),
  cost: Type.Unknown({ description: 'the rule that gives a job its cost' }),
  schema: Type.Optional(Type.Unknown({ description: 'JSON Schema of data' })),
  capacity: Type.Optional(Type.Object({ ratePerSecond: Limit, burst: Limit, concurrency: Limit })),
  backloggedBuckets: Type.Optional(Type.Integer()),
  running: Type.Optional(Type.Integer()),
});

/** The types that a tenant may use. */
export const TypeList = Type.Object({ types: Type.Array(TypeResource) });

/** `GET /v1/types`: what the tenant may post; for an admin key also how busy each type is, over all tenants. */
export function listTypes(app: HttpApp, { shaping, keeper }: RouteParts): void {
  app.get(
    '/v1/types',
    {
      schema: { querystring: TenantQuery, response: { 200: TypeList, ...PROBLEM_ANSWERS } },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const tenant = namedTenant(principal, request.query.tenant, 'tenant');
      if (!tenant.ok) return replyProblem(reply, tenant.problem);
      const usable = rulesOf(keeper.door, usableTypes(keeper.door, tenant.value));
      const types = await Promise.all(
        usable.map(async ({ name, rules }) => ({
          ...typeFields(name, rules),
          ...(principal.kind === 'admin' ? loadFields(await shaping.type(name)) : {}),
        })),
      );
      return reply.code(200).send({ types });
    },
  );
}

function rulesOf(door: Door, names: readonly string[]): { name: string; rules: DoorType }[] {
  return names.flatMap((name) => {
    const rules = door.type(name);
    return rules === undefined ? [] : [{ name, rules }];
  });
}

function typeFields(name: string, { maxPayloadBytes, cost, dataSchema }: DoorType) {
  return { type: name, maxPayloadBytes, cost, ...(dataSchema === null ? {} : { schema: dataSchema }) };
}

/** What other tenants do shows in these, so they are for admins. */
function loadFields({ capacity, backloggedBuckets, running }: TypeView) {
  const { ratePerSecond, burst, concurrency } = capacity;
  return {
    capacity: {
      ratePerSecond: limitOrNull(ratePerSecond),
      burst: limitOrNull(burst),
      concurrency: limitOrNull(concurrency),
    },
    backloggedBuckets,
    running,
  };
}

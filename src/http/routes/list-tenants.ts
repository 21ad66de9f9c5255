import { Type } from 'typebox';
import { tenantIdFault } from '../../config/names.js';
import { encodeTenant } from '../../redis/keys.js';
import type { Administration } from '../../shaping/administration.js';
import { adminOnly } from '../admin-only.js';
import type { HttpApp } from '../http-app.js';
import { replyProblem } from '../reply-problem.js';
import { PROBLEM_ANSWERS } from '../request-schemas.js';

const Query = Type.Object(
  {
    cursor: Type.Optional(Type.String({ minLength: 1, description: 'the cursor of a previous page' })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'a whole number from 1 to 100' }),
    ),
  },
  { additionalProperties: false },
);
const TenantPage = Type.Object({
  tenants: Type.Array(Type.Object({ tenant: Type.String(), tier: Type.String(), inFile: Type.Boolean() })),
  cursor: Type.Optional(Type.String()),
});

/** `GET /v1/tenants`: every tenant that somebody named, in the file, by an override or with a key, in the order of their ids. */
export function listTenants(app: HttpApp, admin: Administration): void {
  app.get(
    '/v1/tenants',
    { schema: { querystring: Query, response: { 200: TenantPage, ...PROBLEM_ANSWERS } } },
    async (request, reply) => {
      const may = adminOnly(request);
      if (!may.ok) return replyProblem(reply, may.problem);
      const { cursor = '', limit = 50 } = request.query;
      if (cursor !== '' && tenantIdFault(cursor) !== undefined) {
        const detail = '`cursor` must be the cursor of a previous page.';
        return replyProblem(reply, { code: 'invalid_field', field: 'cursor', detail });
      }
      const page = await tenantsAfter(admin, cursor, limit + 1);
      const tenants = page.slice(0, limit).map((tenant) => tenantRow(admin, tenant));
      const last = page.length > limit ? tenants.at(-1)?.tenant : undefined;
      return reply.code(200).send({ tenants, ...(last !== undefined && { cursor: last }) });
    },
  );
}

async function tenantsAfter({ live, keys }: Administration, after: string, limit: number): Promise<readonly string[]> {
  const overridden = live.subjects().flatMap(({ kind, name }) => (kind === 'tenant' ? [name] : []));
  const named = new Set([...live.file.tenants.keys(), ...overridden, ...(await keys.tenants(after, limit))]);
  const isLater = (tenant: string): boolean => after === '' || encodeTenant(tenant) > encodeTenant(after);
  return [...named]
    .filter(isLater)
    .sort((one, other) => (encodeTenant(one) < encodeTenant(other) ? -1 : 1))
    .slice(0, limit);
}

function tenantRow({ live }: Administration, tenant: string) {
  const { tenants, defaultTier } = live.view;
  return { tenant, tier: tenants.get(tenant)?.tier ?? defaultTier, inFile: live.file.tenants.has(tenant) };
}

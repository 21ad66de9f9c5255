import type { FastifyBaseLogger } from 'fastify';
import { Type } from 'typebox';
import { DELIVERY_TYPE } from '../../config/delivery-type.js';
import type { Administration } from '../../shaping/administration.js';
import { tenantId } from '../admin-only.js';
import type { HttpApp } from '../http-app.js';
import { TenantResource, tenantResource } from '../override-answer.js';
import { overrideRoutes } from '../override-routes.js';

/** The answer to DELETE: what holds from now on, and what is gone. */
const ErasedTenant = Type.Object({
  ...TenantResource.properties,
  erased: Type.Integer({ description: 'jobs that are gone, with payloads and results' }),
  running: Type.Integer({ description: 'jobs that run still, and go when they end' }),
  more: Type.Boolean({ description: 'there was more than one call erases: ask again' }),
});

/** `/v1/tenants/:id`: what holds for a tenant. Any id will do: one that nobody named has the default tier. */
export function tenantRoutes(app: HttpApp, admin: Administration): void {
  overrideRoutes(app, admin, {
    kind: 'tenant',
    url: '/v1/tenants/:id',
    answer: TenantResource,
    find: tenantId,
    resource: (id) => tenantResource(admin, id),
    onDelete: { answer: ErasedTenant, act: (id, log) => eraseTenant(admin, id, log) },
  });
}

/** Its keys go first: who holds one would otherwise bring it back. One line of the log stands for all jobs that end here. */
async function eraseTenant(admin: Administration, tenant: string, log: FastifyBaseLogger) {
  for (const { id } of await admin.keys.list(tenant)) await admin.keys.revoke(tenant, id);
  const types = [...admin.live.file.types.keys(), DELIVERY_TYPE];
  const all = await Promise.all(types.map((type) => admin.erase(type, tenant)));
  const gone = {
    erased: all.reduce((sum, { erased }) => sum + erased, 0),
    running: all.reduce((sum, { running }) => sum + running, 0),
    more: all.some(({ more }) => more),
  };
  log.info({ tenant, ...gone }, 'tenant erased');
  return gone;
}

import type { Administration } from '../../shaping/administration.js';
import { tenantId } from '../admin-only.js';
import type { HttpApp } from '../http-app.js';
import { TenantResource, tenantResource } from '../override-answer.js';
import { overrideRoutes } from '../override-routes.js';
import { accepted, refused } from '../problems.js';

/** `/v1/tenants/:id`: what holds for a tenant. Any id will do: one that nobody named has the default tier. */
export function tenantRoutes(app: HttpApp, admin: Administration): void {
  overrideRoutes(app, admin, {
    kind: 'tenant',
    url: '/v1/tenants/:id',
    answer: TenantResource,
    find: tenantId,
    resource: (id) => tenantResource(admin, id),
    mayClear: (id) => {
      if (admin.live.file.tenants.has(id)) return accepted(true);
      const detail =
        'Only a tenant of the configuration file goes back to what it says; `PUT {}` clears the overrides of any.';
      return refused({ code: 'tenant_not_in_file', detail });
    },
  });
}

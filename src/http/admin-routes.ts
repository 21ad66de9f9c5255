import type { Administration } from '../shaping/administration.js';
import type { HttpApp } from './http-app.js';
import { keyRoutes } from './routes/keys.js';
import { listTenants } from './routes/list-tenants.js';
import { pauseRoutes } from './routes/pause.js';
import { purgeRoutes } from './routes/purge.js';
import { tenantRoutes } from './routes/tenants.js';
import { tierRoutes } from './routes/tiers.js';
import { typeRoutes } from './routes/types.js';

/** The routes of administrators, which change what holds while everything runs. */
export function adminRoutes(app: HttpApp, admin: Administration): void {
  for (const add of [tenantRoutes, tierRoutes, typeRoutes, pauseRoutes, purgeRoutes, keyRoutes, listTenants])
    add(app, admin);
}

import type { DescribedRoute, DescribedRoutes } from './described-route.js';
import { HEALTH_ROUTES } from './health-routes.js';
import { JOB_ROUTES } from './job-routes.js';
import { LIMIT_ROUTES } from './limit-routes.js';
import { POLICY_ROUTES } from './policy-routes.js';
import { SHARED_ROUTES } from './shared-routes.js';
import { TENANT_ROUTES } from './tenant-routes.js';
import { WORKER_ROUTES } from './worker-routes.js';

const ROUTES: DescribedRoutes = {
  ...HEALTH_ROUTES,
  ...JOB_ROUTES,
  ...LIMIT_ROUTES,
  ...POLICY_ROUTES,
  ...TENANT_ROUTES,
  ...SHARED_ROUTES,
  ...WORKER_ROUTES,
};

/** What is said of a route; `undefined` when nothing is, which a test makes a fault. */
export function describedRoute(method: string, path: string): DescribedRoute | undefined {
  return ROUTES[`${method.toUpperCase()} ${path}`] ?? ROUTES[`ANY ${path}`];
}

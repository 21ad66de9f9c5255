import type { Administration } from '../../shaping/administration.js';
import type { HttpApp } from '../http-app.js';
import { nameHint } from '../name-hint.js';
import { TierResource, tierResource } from '../override-answer.js';
import { overrideRoutes } from '../override-routes.js';
import { accepted, refused } from '../problems.js';
import { shown } from '../shown.js';

/** `/v1/tiers/:name`: what holds for the tenants of a tier. */
export function tierRoutes(app: HttpApp, admin: Administration): void {
  const { tiers } = admin.live.file;
  overrideRoutes(app, admin, {
    kind: 'tier',
    url: '/v1/tiers/:name',
    answer: TierResource,
    find: (name) => {
      if (tiers.has(name)) return accepted(name);
      const hint = nameHint(name, [...tiers.keys()], 'tiers');
      return refused({ code: 'tier_not_found', detail: `There is no tier ${shown(name)}: ${hint}` });
    },
    resource: (name) => tierResource(admin, name),
  });
}

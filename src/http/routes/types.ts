import type { Administration } from '../../shaping/administration.js';
import { knownType } from '../admin-only.js';
import type { HttpApp } from '../http-app.js';
import { TypeResource, typeResource } from '../override-answer.js';
import { overrideRoutes } from '../override-routes.js';

/** `/v1/types/:name`: the capacity of a type. */
export function typeRoutes(app: HttpApp, admin: Administration): void {
  overrideRoutes(app, admin, {
    kind: 'type',
    url: '/v1/types/:name',
    answer: TypeResource,
    find: (name) => knownType(admin, name),
    resource: (name) => typeResource(admin, name),
  });
}

import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { GATEWAY_KEY_HEADER } from './authenticate.js';
import { describeOperation, type Node, nodeOf } from './described/describe-operation.js';
import type { DescribedRoute } from './described/described-route.js';
import { describedRoute } from './described/described-routes.js';

/** Methods that an OpenAPI document can speak of. */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;
/** Whose key opens a route, as the document says it. */
const SECURITY = {
  none: [],
  admin: [{ admin: [] }],
  gateway: [{ gateway: [] }],
  worker: [{ worker: [] }],
} as const satisfies Record<NonNullable<DescribedRoute['key']>, unknown>;

const text = (description: string) => ({ description, schema: { type: 'string' as const } });
const HEADERS = {
  'X-Request-Id': text("the request's own where it is harmless, else a new one"),
  'Retry-After': text('with 429 and 503: whole seconds, rounded up'),
  RateLimit: text('draft-ietf-httpapi-ratelimit-headers: what is left, where the numbers are known'),
  'RateLimit-Policy': text('the same: what there is'),
  'X-RateLimit-Limit': text('for older clients'),
  'X-RateLimit-Remaining': text('for older clients'),
  'Preference-Applied': text('wait=N: the answer waited for the end of the job'),
  Location: text('with the 202 of a job: its address'),
  'Idempotent-Replayed': text('true: the job was there already, under its idempotency key'),
  Allow: text('with 405: the methods that the address answers to'),
  'WWW-Authenticate': text('with 401'),
};

/**
 * The OpenAPI document, made from the schemas of the routes that are added to `app` after this, and a page to read it and try it: at `/docs`,
 * the document at `/docs/json` and `/docs/yaml`. All of it is served from here.
 */
export function describeApi(app: FastifyInstance, version: string): void {
  app.register(swagger, documentOptions(version));
  app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { validatorUrl: null, deepLinking: true },
    staticCSP: true,
  });
}

function documentOptions(version: string): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Headgate',
        version,
        description: 'Multi-tenant traffic shaper: every tenant’s jobs at its own steady rate.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      components: {
        securitySchemes: {
          key: { type: 'http', scheme: 'bearer', description: 'a tenant’s or an admin’s key' },
          admin: { type: 'http', scheme: 'bearer', description: 'an admin’s key' },
          worker: { type: 'http', scheme: 'bearer', description: 'a worker’s or an admin’s key' },
          gateway: { type: 'apiKey', in: 'header', name: GATEWAY_KEY_HEADER, description: 'a gateway’s key' },
        },
      },
      security: [{ key: [] }],
    },
    transform: ({ schema, url }) => {
      const [, , subject = 'health'] = url.split('/');
      return { url, schema: { ...schema, tags: [subject] } };
    },
    transformObject: (made) => {
      if (!('openapiObject' in made)) return made.swaggerObject;
      const { paths = {}, components = {}, ...rest } = made.openapiObject;
      const items = Object.entries(paths).map(([path, item]) => [path, described(path, { ...item })]);
      return { ...rest, components: { ...components, headers: HEADERS }, paths: Object.fromEntries(items) };
    },
  };
}

/** The operations of a path that a document can speak of, with what is said of them, and the headers that answers may have. */
function described(path: string, item: Node): Node {
  const headers = Object.fromEntries(
    Object.keys(HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
  const operations = METHODS.flatMap((method) => {
    const made = nodeOf(item[method]);
    if (made === undefined) return [];
    const route = describedRoute(method, path);
    const { responses, ...operation } = describeOperation(method, path, made, route);
    const answers = Object.entries(nodeOf(responses) ?? {}).map(([status, answer]) => [
      status,
      { ...nodeOf(answer), headers },
    ]);
    const security = route?.key === undefined ? {} : { security: SECURITY[route.key] };
    return [[method, { ...operation, ...security, responses: Object.fromEntries(answers) }]];
  });
  return Object.fromEntries(operations);
}

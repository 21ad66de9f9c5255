import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { GATEWAY_KEY_HEADER } from './authenticate.js';

/** Methods that an OpenAPI document can speak of. */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;
/** Routes that need no key. */
const OPEN = ['/', '/healthz', '/readyz'];

const text = (description: string) => ({ description, schema: { type: 'string' as const } });
const HEADERS = {
  'X-Request-Id': text("the request's own where it is harmless, else a new one"),
  'Retry-After': text('with 429 and 503: whole seconds, rounded up'),
  RateLimit: text('draft-ietf-httpapi-ratelimit-headers: what is left, where the numbers are known'),
  'RateLimit-Policy': text('the same: what there is'),
  'X-RateLimit-Limit': text('for older clients'),
  'X-RateLimit-Remaining': text('for older clients'),
  'Preference-Applied': text('wait=N: the answer waited for the end of the job'),
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
          gateway: { type: 'apiKey', in: 'header', name: GATEWAY_KEY_HEADER, description: 'a gateway’s key' },
        },
      },
      security: [{ key: [] }],
    },
    transform: ({ schema, url }) => {
      const [, , subject = 'health'] = url.split('/');
      const security = OPEN.includes(url) ? [] : url === '/v1/forward-auth' ? [{ gateway: [] }] : undefined;
      return { url, schema: { ...schema, tags: [subject], ...(security !== undefined && { security }) } };
    },
    transformObject: (made) => {
      if (!('openapiObject' in made)) return made.swaggerObject;
      const { paths = {}, components = {}, ...rest } = made.openapiObject;
      const described = Object.entries(paths).map(([path, item]) => [path, withHeaders({ ...item })]);
      return { ...rest, components: { ...components, headers: HEADERS }, paths: Object.fromEntries(described) };
    },
  };
}

/** The operations of a path that a document can speak of, each answer with the headers that it may have. */
function withHeaders(item: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const headers = Object.fromEntries(
    Object.keys(HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
  const operations = METHODS.flatMap((method) => {
    const operation = objectOf(item[method]);
    if (operation === undefined) return [];
    const answers = Object.entries(objectOf(operation.responses) ?? {});
    const responses = answers.map(([status, answer]) => [status, { ...objectOf(answer), headers }]);
    return [[method, { ...operation, responses: Object.fromEntries(responses) }]];
  });
  return Object.fromEntries(operations);
}

function objectOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}

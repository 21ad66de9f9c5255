import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler, RouteOptions } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { ConfigError } from '../config/problem.js';
import { policedHeaders } from '../http/policed-headers.js';
import type { Decision } from '../policing/policing.js';
import type { Guard } from './guard.js';
import { openGuard } from './open-guard.js';
import type { Cost, HeadgateOptions } from './plugin-options.js';
import { isCost } from './read-options.js';
import { refusalOf } from './refusal.js';

/** Options of the fastify plugin: those that both plugins have, and when it looks. */
export interface HeadgateFastifyOptions extends HeadgateOptions<FastifyRequest, FastifyReply> {
  /**
   * `onRequest` unless stated: before anything else is done. `preHandler` where `caller` needs what the application's
   * own authentication has found out.
   */
  readonly hook?: 'onRequest' | 'preHandler' | undefined;
}

/** What requests for one route are held to, in place of what the options say. */
export interface HeldRoute {
  readonly policy?: string;
  readonly cost?: Cost<FastifyRequest>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What the policy said; `null` when the request is held to none. */
    headgate: Decision | null;
  }
  interface FastifyContextConfig {
    /** `false`: requests for this route are held to nothing. */
    headgate?: HeldRoute | false;
  }
}

/**
 * Holds requests to policies: one that conforms goes on with `RateLimit` headers, one that does not is answered 429 with
 * `Retry-After`. `request.headgate` is the decision. What the plugin opens, it closes with the server.
 *
 * @throws ConfigError when the options, or those of a route, cannot be used.
 */
async function headgate(app: FastifyInstance, options: HeadgateFastifyOptions): Promise<void> {
  const { hook = 'onRequest', ...rest } = options;
  if (hook !== 'onRequest' && hook !== 'preHandler') {
    throw new ConfigError('headgate', [{ path: 'hook', message: 'expected onRequest or preHandler' }]);
  }
  const { guard, tried, close } = openGuard({ logger: app.log, ...rest }, addressOf);
  app.addHook('onClose', close);
  app.decorateRequest('headgate', null);
  app.addHook('onRoute', (route) => checkRoute(guard, route));
  app.addHook(hook, holdRequests(guard, options));
  await tried;
}

/** A hook with a callback: what a promise comes to would let the request go on. */
function holdRequests(
  guard: Guard<FastifyRequest>,
  { onRefused }: Pick<HeadgateFastifyOptions, 'onRefused'>,
): onRequestHookHandler {
  const mayGoOn = async (request: FastifyRequest, reply: FastifyReply): Promise<boolean> => {
    const held = request.routeOptions.config?.headgate;
    if (held === false) return true;
    const decision = await guard.decide(request, { method: request.method, url: request.url }, held);
    if (decision === undefined) return true;
    request.headgate = decision;
    reply.headers(policedHeaders(decision));
    if (decision.allowed) return true;

    const { status, headers, mediaType, body } = refusalOf(decision);
    reply.code(status).headers(headers);
    if (onRefused !== undefined) await onRefused(request, reply, decision);
    // Bytes, because Fastify would add a charset, which this media type does not have, to a text.
    else reply.type(mediaType).send(Buffer.from(body));
    return false;
  };
  return (request, reply, done) => {
    mayGoOn(request, reply).then(
      (goesOn) => {
        if (goesOn) done();
      },
      (error) => {
        // Not that of a refusal: the program has failed.
        reply.code(500);
        done(error);
      },
    );
  };
}

function addressOf(request: FastifyRequest): string | undefined {
  return request.ip;
}

function checkRoute(guard: Guard<FastifyRequest>, { method, url, config }: RouteOptions): void {
  const held = config?.headgate;
  if (held === undefined || held === false) return;
  const fault = (field: string, message: string) =>
    new ConfigError('headgate', [{ path: `${method} ${url} config.headgate.${field}`, message }]);
  const { policy, cost } = held;
  if (policy !== undefined && !guard.has(policy)) throw fault('policy', `there is no policy "${policy}"`);
  if (cost !== undefined && typeof cost !== 'function' && !isCost(cost)) {
    throw fault('cost', 'expected a number from 1e-6 to 1e9, or a function');
  }
}

/** The plugin: `await app.register(headgate, { … })`. */
const plugin = fastifyPlugin(headgate, { name: 'headgate', fastify: '5.x' });

export { plugin as default, plugin as headgate };

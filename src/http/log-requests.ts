import type { FastifyInstance } from 'fastify';

/** One line per answered request: failures of ours stand out, the rest is for whoever turns on `debug`. */
export function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    const { principal, method } = request;
    const line = {
      method,
      route: request.routeOptions.url,
      status: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime * 1000) / 1000,
      ...(principal?.kind === 'tenant' ? { tenant: principal.tenant } : {}),
    };
    if (reply.statusCode >= 500) request.log.warn(line, 'request');
    else request.log.debug(line, 'request');
  });
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

/** One line per answered request: failures of ours stand out, the rest is for whoever turns on `debug`. */
export function logRequests(app: FastifyInstance, log: Pick<Logger, 'isLevelEnabled'>): void {
  app.addHook('onResponse', (request, reply, done) => {
    if (reply.statusCode >= 500) request.log.warn(lineOf(request, reply), 'request');
    else if (log.isLevelEnabled('debug')) request.log.debug(lineOf(request, reply), 'request');
    done();
  });
}

function lineOf({ principal, method, routeOptions }: FastifyRequest, reply: FastifyReply) {
  return {
    method,
    route: routeOptions.url,
    status: reply.statusCode,
    durationMs: Math.round(reply.elapsedTime * 1000) / 1000,
    ...(principal?.kind === 'tenant' ? { tenant: principal.tenant } : {}),
  };
}

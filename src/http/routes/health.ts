import { Type } from 'typebox';
import type { HttpApp, RouteParts } from '../http-app.js';
import { replyProblem } from '../reply-problem.js';
import { ProblemBody } from '../request-schemas.js';

const Alive = Type.Object({ status: Type.Literal('alive') });
const Ready = Type.Object({
  status: Type.Union([Type.Literal('ready'), Type.Literal('degraded')]),
  checks: Type.Unsafe<Readonly<Record<string, string>>>({ type: 'object', additionalProperties: { type: 'string' } }),
});
const Welcome = Type.Object({
  service: Type.Literal('headgate'),
  api: Type.String(),
  health: Type.String(),
  ready: Type.String(),
});

/** How soon to probe again. */
const PROBE_AGAIN_MS = 1000;

/** `/healthz` and `/readyz`: they need no key, and query strings (which probes like to add) mean nothing. */
export function health(app: HttpApp, { ready }: RouteParts): void {
  app.get('/healthz', { schema: { response: { 200: Alive } } }, async (_request, reply) =>
    reply.code(200).send({ status: 'alive' }),
  );
  app.get('/readyz', { schema: { response: { 200: Ready, 503: ProblemBody } } }, async (_request, reply) => {
    const { ready: isReady, degraded = false, checks } = await ready();
    if (isReady) return reply.code(200).send({ status: degraded ? 'degraded' : 'ready', checks });
    const failing = Object.entries(checks).map(([name, finding]) => `${name}: ${finding}`);
    const detail = `This process cannot serve now (${failing.join('; ')}).`;
    return replyProblem(reply, { code: 'not_ready', detail, retryAfterMs: PROBE_AGAIN_MS, checks });
  });
}

/** `/` where there is no page for it: where everything else is. */
export function welcome(app: HttpApp): void {
  app.get('/', { schema: { response: { 200: Welcome } } }, async (_request, reply) =>
    reply.code(200).send({ service: 'headgate', api: '/v1', health: '/healthz', ready: '/readyz' }),
  );
}

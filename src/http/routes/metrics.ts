import { Type } from 'typebox';
import { adminOnly } from '../admin-only.js';
import type { ApiMetrics } from '../api-metrics.js';
import type { HttpApp } from '../http-app.js';
import { replyProblem } from '../reply-problem.js';
import { ProblemBody } from '../request-schemas.js';

const Exposition = Type.String({ description: 'the text format of Prometheus, version 0.0.4' });

/** What a scrape is answered from. */
type Exposed = Pick<ApiMetrics, 'contentType' | 'text'>;

/** `GET /metrics`, for whoever has an admin key: it names tenants. */
export function keyedMetrics(app: HttpApp, metrics: Exposed): void {
  app.get(
    '/metrics',
    { schema: { response: { 200: Exposition, '4xx': ProblemBody, '5xx': ProblemBody } } },
    async (request, reply) => {
      const may = adminOnly(request);
      if (!may.ok) return replyProblem(reply, may.problem);
      return reply.type(metrics.contentType).send(await metrics.text());
    },
  );
}

/** The same for everybody who reaches it. */
export function openMetrics(app: HttpApp, metrics: Exposed): void {
  app.get('/metrics', { schema: { response: { 200: Exposition } } }, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.text()),
  );
}

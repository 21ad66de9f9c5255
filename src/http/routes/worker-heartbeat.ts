import { Type } from 'typebox';
import type { RemoteType, Standing } from '../../shaping/remote-type.js';
import type { Held } from '../../shaping/work-source.js';
import { schemaCheck } from '../body-checks.js';
import type { HttpApp } from '../http-app.js';
import { ENVELOPE_BYTES } from '../http-limits.js';
import { replyProblem } from '../reply-problem.js';
import { NoQuery, PROBLEM_ANSWERS } from '../request-schemas.js';
import { HeartbeatRequest } from '../worker-requests.js';
import type { WorkerParts } from '../worker-routes.js';
import { namedRun } from '../worker-run.js';

const Standings = Type.Object({
  runs: Type.Array(
    Type.Object({
      id: Type.String(),
      claim: Type.String(),
      state: Type.Union([Type.Literal('held'), Type.Literal('stop'), Type.Literal('lost')], {
        description: '`held`: go on. `stop`: give it up, by fail or release. `lost`: lay it down, nothing of it counts',
      }),
      reason: Type.Optional(Type.Union([Type.Literal('cancelled'), Type.Literal('timeout')])),
    }),
  ),
});

const checkBody = schemaCheck(HeartbeatRequest, 'body');

/** `POST /v1/workers/heartbeat`: keeps the locks of what a worker runs, and tells what it should stop. */
export function workerHeartbeat(app: HttpApp, { remote }: WorkerParts): void {
  app.post(
    '/v1/workers/heartbeat',
    {
      bodyLimit: 4 * ENVELOPE_BYTES,
      schema: { body: HeartbeatRequest, querystring: NoQuery, response: { 200: Standings, ...PROBLEM_ANSWERS } },
    },
    async (request, reply) => {
      const body = checkBody(request.body, []);
      if (!body.ok) return replyProblem(reply, body.problem);
      const byType = new Map<RemoteType, Held[]>();
      const tokens: string[] = [];
      for (const [i, reference] of body.value.runs.entries()) {
        const run = namedRun(remote, request, reference, `runs[${i}].`);
        if (!run.ok) return replyProblem(reply, run.problem);
        const { type, held } = run.value;
        byType.set(type, [...(byType.get(type) ?? []), held]);
        tokens.push(held.token);
      }
      const standings = new Map<string, Standing>();
      for (const [type, runs] of byType) {
        const found = await type.renew(runs);
        for (const [i, { token }] of runs.entries()) standings.set(token, found[i] ?? { kind: 'lost' });
      }
      const runs = body.value.runs.map(({ id, claim }, i) => {
        const standing = standings.get(tokens[i] ?? '') ?? { kind: 'lost' };
        return { id, claim, state: standing.kind, ...('reason' in standing && { reason: standing.reason }) };
      });
      return reply.code(200).send({ runs });
    },
  );
}

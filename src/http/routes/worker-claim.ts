import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Type } from 'typebox';
import { schemaCheck } from '../body-checks.js';
import type { Closing } from '../closing.js';
import { workerOf } from '../first-look.js';
import type { HttpApp } from '../http-app.js';
import { rfc3339 } from '../instant.js';
import type { Problem } from '../problems.js';
import { replyProblem } from '../reply-problem.js';
import { NoQuery, PROBLEM_ANSWERS } from '../request-schemas.js';
import { CLAIM_WAIT_MS, ClaimRequest } from '../worker-requests.js';
import type { WorkerParts } from '../worker-routes.js';
import { remoteType, tokenOf } from '../worker-run.js';

const Claimed = Type.Object({
  id: Type.String(),
  type: Type.String(),
  tenant: Type.String(),
  claim: Type.String({ description: 'to be named, with id and tenant, in all that is said of this run' }),
  data: Type.Unknown({ description: 'the payload, as the caller posted it' }),
  attempt: Type.Integer({ description: '1 for the first run' }),
  cost: Type.Number(),
  requestId: Type.Optional(Type.String({ description: 'of the request that posted the job' })),
  startedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  lockMs: Type.Integer({ description: 'send a heartbeat three times within it' }),
  timeoutMs: Type.Integer({ description: 'after which the run has failed' }),
});

const checkBody = schemaCheck(ClaimRequest, 'body');

/** `POST /v1/workers/claim`: the fairest ready job of a type, as soon as there is one. */
export function workerClaim(app: HttpApp, { remote, claims, closing, random }: WorkerParts): void {
  app.post(
    '/v1/workers/claim',
    {
      schema: {
        body: ClaimRequest,
        querystring: NoQuery,
        response: { 200: Claimed, 204: Type.Null(), ...PROBLEM_ANSWERS },
      },
    },
    async (request, reply) => {
      const body = checkBody(request.body, []);
      if (!body.ok) return replyProblem(reply, body.problem);
      const type = remoteType(remote, request, body.value.type, 'type');
      if (!type.ok) return replyProblem(reply, type.problem);
      const seat = claims.take(workerOf(request).keyHash);
      if (!seat.taken) return replyProblem(reply, seat.full === 'tenant' ? TOO_MANY_OWN : tooMany(random));
      const { claim = randomUUID(), waitMs = CLAIM_WAIT_MS.default } = body.value;
      const patience = new Patience(reply.raw, closing, waitMs);
      try {
        const found = await type.value.claim(tokenOf(request, claim), patience.signal);
        if (found === undefined) return await reply.code(204).send(null);
        const { job, payload, startedAtMs } = found;
        return await reply.code(200).send({
          ...job,
          claim,
          data: JSON.parse(payload),
          startedAt: rfc3339(startedAtMs),
          ...{ lockMs: remote.lockMs, timeoutMs: type.value.config.timeoutMs },
        });
      } finally {
        patience.end();
        seat.leave();
      }
    },
  );
}

/** How long a caller is kept waiting: until the time is up, he leaves, or the server closes. */
class Patience {
  readonly #over = new AbortController();
  readonly #end: () => void;

  constructor(caller: ServerResponse, closing: Closing, waitMs: number) {
    const over = (): void => this.#over.abort();
    const timer = setTimeout(over, waitMs);
    caller.once('close', over);
    const stay = closing.onBegin(over);
    if (caller.destroyed || closing.begun) over();
    this.#end = () => {
      clearTimeout(timer);
      caller.off('close', over);
      stay();
    };
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  end(): void {
    this.#end();
  }
}

const TOO_MANY_OWN: Problem = {
  code: 'too_many_waiting',
  detail: 'As many claims wait with this key as may.',
  retryAfterMs: null,
};

function tooMany(random: () => number): Problem {
  const detail = 'As many claims wait in this process as it takes.';
  return { code: 'not_ready', detail, retryAfterMs: 1000 + Math.floor(random() * 4000) };
}

import { Type } from 'typebox';
import { schemaCheck } from '../body-checks.js';
import { CheckRequest } from '../check-request.js';
import { principalOf } from '../first-look.js';
import type { HttpApp, RouteParts } from '../http-app.js';
import { CHECK_BYTES } from '../http-limits.js';
import { ownMember } from '../json-pointer.js';
import { knownPolicy } from '../known-policy.js';
import { namedTenant } from '../named-tenant.js';
import { PolicedFields, policedFields, policedProblem } from '../policed-answer.js';
import { policedHeaders } from '../policed-headers.js';
import { replyProblem } from '../reply-problem.js';
import { NoQuery, PROBLEM_ANSWERS } from '../request-schemas.js';

/** The answer to a call that may go on. */
export const CheckAnswer = Type.Object({
  ...PolicedFields.properties,
  retryAfterMs: Type.Integer({ description: '0: the call may go on' }),
});

const checkBody = schemaCheck(CheckRequest, 'body');

/** `POST /v1/check`: one decision, for a key of the caller's own within its tenant. */
export function postCheck(app: HttpApp, { policed, keeper }: RouteParts): void {
  app.post(
    '/v1/check',
    {
      bodyLimit: CHECK_BYTES,
      schema: { body: CheckRequest, querystring: NoQuery, response: { 200: CheckAnswer, ...PROBLEM_ANSWERS } },
    },
    async (request, reply) => {
      const body: unknown = request.body;
      const tenant = namedTenant(principalOf(request), ownMember(body, 'tenant'), 'tenant');
      if (!tenant.ok) return replyProblem(reply, tenant.problem);
      const check = checkBody(body, []);
      if (!check.ok) return replyProblem(reply, check.problem);
      const policy = knownPolicy(policed, check.value.policy, 'policy');
      if (!policy.ok) return replyProblem(reply, policy.problem);
      const { key, cost = 1, peek = false } = check.value;
      const decision = await policed.policing.decide({
        policy: policy.value,
        caller: {
          tenant: tenant.value,
          tier: keeper.door.tier(tenant.value),
          ...(key === undefined ? {} : { key }),
        },
        cost,
        peek,
      });
      reply.headers(policedHeaders(decision));
      if (!decision.allowed) return replyProblem(reply, policedProblem(decision, 'cost'));
      return reply.code(200).send({ ...policedFields(decision), retryAfterMs: 0 });
    },
  );
}

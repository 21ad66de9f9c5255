import { Type } from 'typebox';
import { type CostRule, costOf } from '../../model/cost.js';
import type { QuotedStart } from '../../shaping/shaping.js';
import { roomHeaders } from '../answer-headers.js';
import { principalOf } from '../first-look.js';
import type { HttpApp, RouteParts } from '../http-app.js';
import { rfc3339 } from '../instant.js';
import { betweenOrNull, ReleaseBetween } from '../job-answer.js';
import { namedTenant } from '../named-tenant.js';
import { accepted, type Checked, refused } from '../problems.js';
import { replyProblem } from '../reply-problem.js';
import { PROBLEM_ANSWERS, QuoteQuery } from '../request-schemas.js';
import { usableType } from '../usable-type.js';

const InstantOrNull = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);
const Start = { at: InstantOrNull, between: ReleaseBetween };

const QuoteAnswer = Type.Object({
  type: Type.String(),
  tenant: Type.String(),
  count: Type.Integer(),
  priority: Type.Integer(),
  cost: Type.Number({ description: 'of each job' }),
  startAt: Start.at,
  startBetween: Start.between,
  lastStartAt: Start.at,
  lastStartBetween: Start.between,
  basis: Type.Union([Type.Literal('rate'), Type.Literal('capacity')]),
  endAt: InstantOrNull,
  freePlaces: Type.Integer({ description: 'of which the jobs would take one each' }),
});

/** `GET /v1/quote`: when jobs would start and end if they came now. Changes nothing, and reserves nothing. */
export function getQuote(app: HttpApp, { shaping, keeper }: RouteParts): void {
  app.get(
    '/v1/quote',
    { schema: { querystring: QuoteQuery, response: { 200: QuoteAnswer, ...PROBLEM_ANSWERS } } },
    async (request, reply) => {
      const { type, count = 1, priority = 4 } = request.query;
      const tenant = namedTenant(principalOf(request), request.query.tenant, 'tenant');
      if (!tenant.ok) return replyProblem(reply, tenant.problem);
      const rules = usableType(keeper.door, tenant.value, type, 'type');
      if (!rules.ok) return replyProblem(reply, rules.problem);
      const cost = quotedCost(rules.value.cost, request.query.cost);
      if (!cost.ok) return replyProblem(reply, cost.problem);
      const jobs = { count, priority, cost: cost.value };
      const quote = await shaping.quote(type, tenant.value, jobs);
      if (quote.verdict === 'cost_exceeds_max') {
        const { max } = quote;
        const detail = `A job of cost ${cost.value} is above ${max}, the burst of the tenant for this type.`;
        return replyProblem(reply, { code: 'cost_exceeds_max', field: 'cost', detail, max });
      }
      const { first, last, meanRunMs, depth, freePlaces } = quote;
      return reply
        .code(200)
        .headers(roomHeaders(depth, freePlaces))
        .send({
          ...{ type, tenant: tenant.value, ...jobs },
          startAt: rfc3339(first.releaseAtMs),
          startBetween: betweenOrNull(first.releaseBetweenMs),
          lastStartAt: rfc3339(last.releaseAtMs),
          lastStartBetween: betweenOrNull(last.releaseBetweenMs),
          basis: weaker(first, last),
          endAt: meanRunMs === null ? null : rfc3339(last.releaseAtMs + meanRunMs),
          freePlaces,
        });
    },
  );
}

/** Both starts are as sure as the less sure one. */
function weaker(first: QuotedStart, last: QuotedStart): 'rate' | 'capacity' {
  return first.basis === 'rate' && last.basis === 'rate' ? 'rate' : 'capacity';
}

/** Where the cost lies in the payload, there is none to look at: `cost` says what it will be, within the same bounds. */
function quotedCost(rule: CostRule, stated: number | undefined): Checked<number> {
  const asked: CostRule =
    rule.kind === 'field' ? { ...rule, kind: 'request', default: rule.default ?? rule.min } : rule;
  const verdict = costOf(asked, undefined, stated);
  if ('cost' in verdict) return accepted(verdict.cost);
  const { message, code } = verdict.problem;
  const detail = `\`cost\` cannot be quoted: ${message}.`;
  return refused({ code: code === 'malformed' ? 'invalid_field' : code, field: 'cost', detail });
}

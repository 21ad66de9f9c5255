import { Type } from 'typebox';
import type { PolicyConfig } from '../../config/policy-config.js';
import { type Limit, quotaOf } from '../../model/limit.js';
import type { DecisionCount } from '../../policing/policing.js';
import { principalOf } from '../first-look.js';
import type { HttpApp, RouteParts } from '../http-app.js';
import { DecisionKind } from '../policed-answer.js';
import { replyProblem } from '../reply-problem.js';
import { NoQuery, PROBLEM_ANSWERS } from '../request-schemas.js';

const Text = Type.String();
const LimitResource = Type.Object({
  name: Text,
  per: Type.Union([Type.Literal('key'), Type.Literal('policy')]),
  algorithm: Type.Union([
    Type.Literal('token-bucket'),
    Type.Literal('sliding-window-log'),
    Type.Literal('sliding-window-counter'),
  ]),
  limit: Type.Number({ description: 'units that pass at once, or in a window' }),
  ratePerSecond: Type.Optional(Type.Number()),
  windowMs: Type.Optional(Type.Number()),
});
const Limits = Type.Array(LimitResource, { description: 'empty: unlimited' });
const PolicyResource = Type.Object({
  policy: Text,
  place: Type.Union([Type.Literal('redis'), Type.Literal('local'), Type.Literal('leased')]),
  onOutage: Type.Union([Type.Literal('open'), Type.Literal('closed'), Type.Literal('local')]),
  enforce: Type.Boolean(),
  limits: Limits,
  byTier: Type.Record(Text, Limits),
  decisions: Type.Array(Type.Object({ ...DecisionKind, count: Type.Integer() })),
});

/** Every policy, and what this process has decided by it. */
export const PolicyList = Type.Object({ policies: Type.Array(PolicyResource) });

/** `GET /v1/policies`: what callers are held to, for admins. */
export function listPolicies(app: HttpApp, { policed }: RouteParts): void {
  app.get(
    '/v1/policies',
    { schema: { querystring: NoQuery, response: { 200: PolicyList, ...PROBLEM_ANSWERS } } },
    async (request, reply) => {
      if (principalOf(request).kind !== 'admin') {
        const detail = 'The policies of all callers are shown to an admin key.';
        return replyProblem(reply, { code: 'admin_only', field: 'Authorization', detail });
      }
      const counts = policed.policing.counts();
      return reply.code(200).send({ policies: [...policed.policies.values()].map((each) => resource(each, counts)) });
    },
  );
}

function resource({ name, place, onOutage, enforce, limits, byTier }: PolicyConfig, counts: readonly DecisionCount[]) {
  return {
    policy: name,
    place,
    onOutage,
    enforce,
    limits: limits.map(limitResource),
    byTier: Object.fromEntries([...byTier].map(([tier, own]) => [tier, own.map(limitResource)])),
    decisions: counts
      .filter(({ policy }) => policy === name)
      .map(({ outcome, decidedBy, allowed, count }) => ({ outcome, decidedBy, allowed, count })),
  };
}

function limitResource(limit: Limit) {
  const { name, per, algorithm } = limit;
  const pace = algorithm === 'token-bucket' ? { ratePerSecond: limit.ratePerSecond } : { windowMs: limit.windowMs };
  return { name, per, algorithm, limit: quotaOf(limit), ...pace };
}

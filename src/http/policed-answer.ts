import { type Static, Type } from 'typebox';
import { quotaOf } from '../model/limit.js';
import type { Decision, LimitState } from '../policing/policing.js';
import type { Problem } from './problems.js';

/** What is left of one limit. */
const LIMIT_NUMBERS = {
  limit: Type.Number({ description: 'units that pass at once, or in a window' }),
  remaining: Type.Number({ description: 'units that would pass now' }),
  resetMs: Type.Integer({ description: 'milliseconds until one unit more would pass; 0 when the limit is whole' }),
};

const Outcome = Type.Union([
  Type.Literal('conforming'),
  Type.Literal('limited'),
  Type.Literal('cost_exceeds_max'),
  Type.Literal('unknown'),
]);
const DecidedBy = Type.Union([
  Type.Literal('policer'),
  Type.Literal('open'),
  Type.Literal('closed'),
  Type.Literal('local'),
]);

/** What a policy decided, as it is told. The numbers are those of the nearest limit, and absent where nobody knows. */
export const PolicedFields = Type.Object({
  policy: Type.String(),
  allowed: Type.Boolean(),
  outcome: Outcome,
  decidedBy: DecidedBy,
  enforced: Type.Boolean({ description: 'false: the policy lets everything pass, whatever the outcome' }),
  limit: Type.Optional(LIMIT_NUMBERS.limit),
  remaining: Type.Optional(LIMIT_NUMBERS.remaining),
  resetMs: Type.Optional(LIMIT_NUMBERS.resetMs),
  limits: Type.Optional(Type.Array(Type.Object({ name: Type.String(), ...LIMIT_NUMBERS }))),
  max: Type.Optional(Type.Number({ description: 'the greatest cost that can pass; with cost_exceeds_max' })),
});
export type PolicedFields = Static<typeof PolicedFields>;

/** How decisions are counted. */
export const DecisionKind = { outcome: Outcome, decidedBy: DecidedBy, allowed: Type.Boolean() };

/** What is told of a decision, whether it lets pass or not. */
export function policedFields(decision: Decision): PolicedFields {
  const { policy, allowed, outcome, decidedBy, enforced, limits, nearest, max } = decision;
  return {
    policy,
    allowed,
    outcome,
    decidedBy,
    enforced,
    ...(nearest === undefined ? {} : numbersOf(nearest)),
    ...(limits.length === 0 ? {} : { limits: limits.map((each) => ({ name: each.limit.name, ...numbersOf(each) })) }),
    ...(max === undefined ? {} : { max }),
  };
}

/**
 * The problem that answers a decision which does not let pass.
 *
 * @param costField Where the caller wrote what gives the cost: at fault when it can never pass. Absent where the caller
 * has no say in it.
 */
export function policedProblem(decision: Decision, costField?: string): Problem {
  const { policy, outcome, nearest, max, retryAfterMs } = decision;
  const name = JSON.stringify(policy);
  switch (outcome) {
    case 'limited': {
      const detail = `The limit ${JSON.stringify(nearest?.limit.name ?? policy)} of the policy ${name} is reached.`;
      return { code: 'rate_limited', detail, retryAfterMs: wholeMs(retryAfterMs), ...policedFields(decision) };
    }
    case 'cost_exceeds_max': {
      const most = max === undefined ? 'what' : `${max}, the most that`;
      const cost = costField === undefined ? 'The request costs more than' : `\`${costField}\` gives a cost above`;
      const detail = `${cost} ${most} the policy ${name} can ever let through.`;
      const field = costField === undefined ? {} : { field: costField };
      return { code: 'cost_exceeds_max', ...field, detail, ...policedFields(decision) };
    }
    case 'unknown': {
      const detail = `The store did not answer in time, and the policy ${name} lets nothing through without it.`;
      return { code: 'redis_unavailable', detail, retryAfterMs: wholeMs(retryAfterMs), ...policedFields(decision) };
    }
    case 'conforming':
      throw new Error(`the policy ${name} refuses what conforms`);
  }
}

function numbersOf({ limit, remaining, nextUnitMs }: LimitState) {
  return { limit: quotaOf(limit), remaining: toMillionths(remaining), resetMs: Math.ceil(nextUnitMs) };
}

function wholeMs(ms: number | null): number | null {
  return ms === null ? null : Math.ceil(ms);
}

/** Units to a millionth, the smallest cost: what binary arithmetic leaves beyond that is of no use to anybody. */
function toMillionths(units: number): number {
  return Math.round(units * 1e6) / 1e6;
}

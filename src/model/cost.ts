/**
 * What a job costs: the type's rule, never the caller's word.
 * - `fixed`: every job costs the same.
 * - `field`: a number in the payload, such as its pages; `from` is written `data.pages`.
 * - `request`: the request's own `cost`, because the type says that callers know it.
 */
export type CostRule =
  | { readonly kind: 'fixed'; readonly cost: number }
  | {
      readonly kind: 'field';
      readonly from: string;
      readonly min: number;
      readonly max: number;
      /** Taken when the payload lacks the field; without it such a job is malformed. */
      readonly default?: number;
    }
  | { readonly kind: 'request'; readonly min: number; readonly max: number; readonly default: number };

/** Why a job has no cost: `field` is where the caller wrote it (`data.pages`, `cost`). */
export interface CostProblem {
  readonly field: string;
  readonly message: string;
  readonly code: 'malformed' | 'cost_exceeds_max';
}

/** A job's cost in units, or why there is none. */
export type CostVerdict = { readonly cost: number } | { readonly problem: CostProblem };

/**
 * The cost of one job under its type's rule.
 *
 * A number below the rule's `min` costs `min`; one above its `max` is refused, since the bound on a single job is what
 * the envelope of every bucket rests on. Only own properties of the payload are looked at, and only numbers count.
 *
 * @param data The payload, parsed.
 * @param requestCost The request's own `cost`; refused where the rule does not ask for it.
 */
export function costOf(rule: CostRule, data: unknown, requestCost?: unknown): CostVerdict {
  if (rule.kind === 'request') return requestedCost(rule, requestCost);
  if (requestCost !== undefined) {
    return malformed('cost', 'this type works out the cost by itself; leave the field out');
  }
  if (rule.kind === 'fixed') return { cost: rule.cost };

  const stated = lookUp(data, rule.from);
  if (stated === undefined) {
    return rule.default === undefined
      ? malformed(rule.from, `expected a number up to ${rule.max}, got nothing`)
      : { cost: rule.default };
  }
  return bounded(rule, rule.from, stated);
}

/** The smallest cost that a job under `rule` can have, in units. */
export function leastCost(rule: CostRule): number {
  return rule.kind === 'fixed' ? rule.cost : rule.min;
}

function requestedCost(rule: CostRule & { kind: 'request' }, stated: unknown): CostVerdict {
  if (stated === undefined) return { cost: rule.default };
  // A payload may honestly hold 0 pages; a caller who writes a cost of 0 or less has made a mistake.
  if (typeof stated === 'number' && stated <= 0) {
    return malformed('cost', `expected a number above 0 and up to ${rule.max}, got ${stated}`);
  }
  return bounded(rule, 'cost', stated);
}

function bounded(rule: { min: number; max: number }, field: string, stated: unknown): CostVerdict {
  if (typeof stated !== 'number' || !Number.isFinite(stated)) {
    return malformed(field, `expected a number up to ${rule.max}, got ${kindOf(stated)}`);
  }
  if (stated > rule.max) {
    return {
      problem: {
        field,
        message: `${stated} is more than the ${rule.max} that one job may cost`,
        code: 'cost_exceeds_max',
      },
    };
  }
  return { cost: Math.max(stated, rule.min) };
}

function malformed(field: string, message: string): CostVerdict {
  return { problem: { field, message, code: 'malformed' } };
}

function lookUp(data: unknown, from: string): unknown {
  let value: unknown = data;
  for (const name of from.split('.').slice(1)) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Object.getOwnPropertyDescriptor(value, name)?.value;
  }
  return value;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return typeof value === 'string' ? 'text' : `a ${typeof value}`;
}

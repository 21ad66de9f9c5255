import type { PolicyConfig } from '../config/policy-config.js';
import { type Limit, quotaOf } from '../model/limit.js';
import type { Judgement } from './outage-policer.js';
import type { PolicerVerdict, Reading } from './policer.js';
import type { Decision, LimitState } from './policing.js';

/** What a decision is made of, beside the judgement. */
export interface DecisionTerms {
  readonly policy: Pick<PolicyConfig, 'name' | 'enforce' | 'retryJitter'>;
  /** In the order of the verdict's readings. */
  readonly limits: readonly Limit[];
  readonly giveBack: Decision['giveBack'];
  /** From 0 up to 1. */
  readonly random: () => number;
}

/** When to come back to a policy that refuses because Redis is away; spread evenly over as much again. */
const CLOSED_RETRY_MS = 1000;

/** What the policy says of a call that was judged so. */
export function decisionOf(judgement: Judgement, terms: DecisionTerms): Decision {
  switch (judgement.decidedBy) {
    case 'policer':
    case 'local':
      return known(judgement.verdict, judgement.decidedBy, terms);
    case 'open':
    case 'closed':
      return unknown(judgement.decidedBy, terms);
  }
}

function known(verdict: PolicerVerdict, decidedBy: 'policer' | 'local', terms: DecisionTerms): Decision {
  const { policy, random } = terms;
  const base = baseOf(terms);
  switch (verdict.verdict) {
    case 'conforming': {
      const limits = statesOf(terms.limits, verdict.readings);
      const nearest = withLeastShare(limits);
      const decision = { ...base, allowed: true, outcome: verdict.verdict, decidedBy, retryAfterMs: 0, limits };
      return nearest === undefined ? decision : { ...decision, nearest };
    }
    case 'limited': {
      const limits = statesOf(terms.limits, verdict.readings);
      const nearest = limits[verdict.limitedBy];
      const retryAfterMs = policy.enforce ? spread(verdict.retryAfterMs, policy.retryJitter, random) : 0;
      const decision = { ...base, outcome: verdict.verdict, decidedBy, retryAfterMs, limits };
      return nearest === undefined ? decision : { ...decision, nearest };
    }
    case 'cost_exceeds_max':
      return {
        ...base,
        outcome: verdict.verdict,
        decidedBy,
        retryAfterMs: policy.enforce ? null : 0,
        limits: [],
        max: verdict.max,
      };
  }
}

function unknown(decidedBy: 'open' | 'closed', terms: DecisionTerms): Decision {
  const base = baseOf(terms);
  const allowed = base.allowed || decidedBy === 'open';
  const retryAfterMs = allowed ? 0 : spread(CLOSED_RETRY_MS, 1, terms.random);
  return { ...base, allowed, outcome: 'unknown', decidedBy, retryAfterMs, limits: [] };
}

/** What holds for every decision, as if the call was refused: whoever does not enforce lets it pass. */
function baseOf({ policy: { name, enforce }, giveBack }: DecisionTerms) {
  return { policy: name, allowed: !enforce, enforced: enforce, giveBack };
}

function statesOf(limits: readonly Limit[], readings: readonly Reading[]): LimitState[] {
  return readings.flatMap(({ remaining, nextUnitMs }, index) => {
    const limit = limits[index];
    return limit === undefined ? [] : [{ limit, remaining, nextUnitMs }];
  });
}

/** The limit of whose quota the smallest part is left; the first of several. */
function withLeastShare(states: readonly LimitState[]): LimitState | undefined {
  let least: LimitState | undefined;
  for (const state of states) {
    if (least === undefined || shareOf(state) < shareOf(least)) least = state;
  }
  return least;
}

function shareOf({ limit, remaining }: LimitState): number {
  return remaining / quotaOf(limit);
}

/** `ms` and up to `fraction` of it more, in whole milliseconds: never less, so nobody returns before the time. */
export function spread(ms: number, fraction: number, random: () => number): number {
  return Math.ceil(fraction > 0 ? ms * (1 + fraction * random()) : ms);
}

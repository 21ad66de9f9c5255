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
  const { enforce, retryJitter } = terms.policy;
  const decision = draftOf(verdict.verdict, decidedBy, terms);
  switch (verdict.verdict) {
    case 'conforming': {
      decision.allowed = true;
      const states = statesOf(terms.limits, verdict.readings);
      return withLimits(decision, states, withLeastShare(states));
    }
    case 'limited': {
      if (enforce) decision.retryAfterMs = spread(verdict.retryAfterMs, retryJitter, terms.random);
      const states = statesOf(terms.limits, verdict.readings);
      return withLimits(decision, states, states[verdict.limitedBy]);
    }
    case 'cost_exceeds_max':
      if (enforce) decision.retryAfterMs = null;
      decision.max = verdict.max;
      return decision;
  }
}

function unknown(decidedBy: 'open' | 'closed', terms: DecisionTerms): Decision {
  const decision = draftOf('unknown', decidedBy, terms);
  if (decidedBy === 'open') decision.allowed = true;
  if (!decision.allowed) decision.retryAfterMs = spread(CLOSED_RETRY_MS, 1, terms.random);
  return decision;
}

const NOTHING_KNOWN: readonly LimitState[] = [];

type Draft = { -readonly [Field in keyof Decision]: Decision[Field] };

/** What holds for every decision, as if the call was refused: whoever does not enforce lets it pass. */
function draftOf(outcome: Decision['outcome'], decidedBy: Decision['decidedBy'], terms: DecisionTerms): Draft {
  const { name, enforce } = terms.policy;
  // One shape, written out: to put objects together from others costs several times as much as the decision itself.
  return {
    policy: name,
    allowed: !enforce,
    outcome,
    decidedBy,
    enforced: enforce,
    retryAfterMs: 0,
    limits: NOTHING_KNOWN,
    giveBack: terms.giveBack,
  };
}

function withLimits(decision: Draft, limits: readonly LimitState[], nearest: LimitState | undefined): Decision {
  decision.limits = limits;
  if (nearest !== undefined) decision.nearest = nearest;
  return decision;
}

function statesOf(limits: readonly Limit[], readings: readonly Reading[]): LimitState[] {
  const [only, another] = limits;
  const [reading] = readings;
  // A list that grows has room for many: of one limit, which most policies have, it is written out.
  if (only !== undefined && another === undefined && reading !== undefined) return [stateOf(only, reading)];
  return limits.flatMap((limit, i) => {
    const reading = readings[i];
    return reading === undefined ? [] : [stateOf(limit, reading)];
  });
}

function stateOf(limit: Limit, { remaining, nextUnitMs }: Reading): LimitState {
  return { limit, remaining, nextUnitMs };
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

import type { PolicyConfig } from '../config/policy-config.js';
import { quotaOf } from '../model/limit.js';
import type { Judgement } from './outage-policer.js';
import type { Conforming, PolicerVerdict } from './policer.js';
import type { Decision, LimitState } from './policing.js';

/** What a decision is made of, beside the judgement. */
export interface DecisionTerms {
  readonly policy: Pick<PolicyConfig, 'name' | 'enforce' | 'retryJitter'>;
  readonly giver: Giver;
  /** From 0 up to 1. */
  readonly random: () => number;
}

/** Whoever has a conforming call given back. Never rejects. */
interface Giver {
  giveBack(verdict: Conforming): Promise<void>;
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
  const decision = new Draft(verdict.verdict, decidedBy, terms.policy);
  switch (verdict.verdict) {
    case 'conforming':
      decision.allowed = true;
      decision.charge(verdict, terms.giver);
      return withLimits(decision, verdict.readings, withLeastShare(verdict.readings));
    case 'limited':
      if (enforce) decision.retryAfterMs = spread(verdict.retryAfterMs, retryJitter, terms.random);
      return withLimits(decision, verdict.readings, verdict.readings[verdict.limitedBy]);
    case 'cost_exceeds_max':
      if (enforce) decision.retryAfterMs = null;
      decision.max = verdict.max;
      return decision;
  }
}

function unknown(decidedBy: 'open' | 'closed', terms: DecisionTerms): Decision {
  const decision = new Draft('unknown', decidedBy, terms.policy);
  if (decidedBy === 'open') decision.allowed = true;
  if (!decision.allowed) decision.retryAfterMs = spread(CLOSED_RETRY_MS, 1, terms.random);
  return decision;
}

const NOTHING_KNOWN: readonly LimitState[] = [];

/** A decision in the making, as if the call was refused: whoever does not enforce lets it pass. */
class Draft implements Decision {
  readonly policy: string;
  allowed: boolean;
  readonly outcome: Decision['outcome'];
  readonly decidedBy: Decision['decidedBy'];
  readonly enforced: boolean;
  retryAfterMs: number | null = 0;
  limits: readonly LimitState[] = NOTHING_KNOWN;
  declare nearest?: LimitState;
  declare max?: number;
  /** What was charged, until it is given back. */
  #charged: Conforming | undefined;
  #giver: Giver | undefined;
  #given: Promise<void> | undefined;

  constructor(
    outcome: Decision['outcome'],
    decidedBy: Decision['decidedBy'],
    { name, enforce }: DecisionTerms['policy'],
  ) {
    this.policy = name;
    this.allowed = !enforce;
    this.outcome = outcome;
    this.decidedBy = decidedBy;
    this.enforced = enforce;
  }

  charge(verdict: Conforming, giver: Giver): void {
    this.#charged = verdict;
    this.#giver = giver;
  }

  /** Once, however often it is called. */
  async giveBack(): Promise<void> {
    if (this.#charged !== undefined) this.#given ??= this.#giver?.giveBack(this.#charged);
    await this.#given;
  }
}

function withLimits(decision: Draft, limits: readonly LimitState[], nearest: LimitState | undefined): Decision {
  decision.limits = limits;
  if (nearest !== undefined) decision.nearest = nearest;
  return decision;
}

/** The limit of whose quota the smallest part is left; the first of several. */
function withLeastShare(states: readonly LimitState[]): LimitState | undefined {
  let least = states[0];
  for (let i = 1; i < states.length; i += 1) {
    const state = states[i];
    if (least && state && shareOf(state) < shareOf(least)) least = state;
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

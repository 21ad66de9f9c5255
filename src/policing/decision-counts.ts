import type { Decision, DecisionCount } from './policing.js';

const OUTCOMES = ['conforming', 'limited', 'cost_exceeds_max', 'unknown'] as const satisfies Decision['outcome'][];
const DECIDERS = ['policer', 'open', 'closed', 'local'] as const satisfies Decision['decidedBy'][];

type Counted = Pick<Decision, 'policy' | 'outcome' | 'decidedBy' | 'allowed'>;

/** Decisions by policy, outcome and who decided. There are as many counts as policies have kinds of decisions, whoever calls. */
export class DecisionCounts {
  readonly #byPolicy = new Map<string, Map<number, { readonly of: Counted; count: number }>>();

  add({ policy, outcome, decidedBy, allowed }: Counted): void {
    let counts = this.#byPolicy.get(policy);
    if (counts === undefined) {
      counts = new Map();
      this.#byPolicy.set(policy, counts);
    }
    const kind = (OUTCOMES.indexOf(outcome) * DECIDERS.length + DECIDERS.indexOf(decidedBy)) * 2 + Number(allowed);
    const known = counts.get(kind);
    if (known !== undefined) known.count += 1;
    else counts.set(kind, { of: { policy, outcome, decidedBy, allowed }, count: 1 });
  }

  /** Those above 0. */
  snapshot(): DecisionCount[] {
    return [...this.#byPolicy.values()].flatMap((counts) =>
      [...counts.values()].map(({ of, count }) => ({ ...of, count })),
    );
  }
}

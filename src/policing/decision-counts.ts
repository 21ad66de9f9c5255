import type { Decision, DecisionCount } from './policing.js';

const OUTCOMES = ['conforming', 'limited', 'cost_exceeds_max', 'unknown'] as const satisfies Decision['outcome'][];
const DECIDERS = ['policer', 'open', 'closed', 'local'] as const satisfies Decision['decidedBy'][];

type Counted = Pick<Decision, 'outcome' | 'decidedBy' | 'allowed'>;

/** Decisions of a policy by outcome and who decided. There are as many counts as kinds of decisions, whoever calls. */
export class DecisionCounts {
  readonly #policy: string;
  /** By {@link kindOf}; 0 where there was none. */
  readonly #counts: number[] = Array.from({ length: OUTCOMES.length * DECIDERS.length * 2 }, () => 0);

  constructor(policy: string) {
    this.#policy = policy;
  }

  add(decision: Counted): void {
    const kind = kindOf(decision);
    this.#counts[kind] = (this.#counts[kind] ?? 0) + 1;
  }

  /** Those above 0. */
  snapshot(): DecisionCount[] {
    const policy = this.#policy;
    return OUTCOMES.flatMap((outcome) =>
      DECIDERS.flatMap((decidedBy) =>
        [true, false].flatMap((allowed) => {
          const count = this.#counts[kindOf({ outcome, decidedBy, allowed })] ?? 0;
          return count > 0 ? [{ policy, outcome, decidedBy, allowed, count }] : [];
        }),
      ),
    );
  }
}

function kindOf({ outcome, decidedBy, allowed }: Counted): number {
  return (OUTCOMES.indexOf(outcome) * DECIDERS.length + DECIDERS.indexOf(decidedBy)) * 2 + (allowed ? 0 : 1);
}

import { ANONYMOUS_TIER, type PolicyConfig } from '../config/policy-config.js';
import { type Limit, quotaOf, shareOf } from '../model/limit.js';
import { KnownCallers } from './known-callers.js';
import type { AppliedLimit, PolicerVerdict } from './policer.js';
import type { Caller } from './policing.js';
import { callerSubject, limitSubject } from './subject.js';
import { tooDear } from './too-dear.js';

/** The limits of a tier, with what is known of their subjects before anybody calls. */
export class HeldLimits {
  /** As this process holds callers to them: its share of each. */
  readonly limits: readonly Limit[];
  readonly #own: readonly { readonly limit: Limit }[];
  readonly #smallestQuota: number;
  readonly #applied: readonly AppliedLimit[];
  readonly #perKey: boolean;
  readonly #known = new KnownCallers<readonly AppliedLimit[]>();

  constructor({ name: policy, share }: Pick<PolicyConfig, 'name' | 'share'>, limits: readonly Limit[]) {
    this.limits = limits.map((limit) => shareOf(limit, share));
    this.#own = this.limits.map((limit) => ({ limit }));
    this.#smallestQuota = Math.min(...this.limits.map(quotaOf));
    this.#applied = limits.map((limit, index) => applied(limit, limitSubject(policy, index, limit)));
    this.#perKey = limits.some(({ per }) => per === 'key');
  }

  /** The verdict on a cost that can never pass: that is arithmetic, and nobody has to be asked. */
  tooDear(cost: number): PolicerVerdict | undefined {
    return cost > this.#smallestQuota ? tooDear(this.#own, cost) : undefined;
  }

  /** The limits as they apply to a caller. */
  appliedTo(caller: Caller): readonly AppliedLimit[] {
    return this.#perKey ? this.#known.of(caller, this.#applyTo) : this.#applied;
  }

  readonly #applyTo = (caller: Caller): readonly AppliedLimit[] => {
    const who = callerSubject(caller);
    return this.#applied.map((each) => (each.limit.per === 'key' ? applied(each.limit, each.subject + who) : each));
  };
}

function applied(limit: Limit, subject: string): AppliedLimit {
  return { limit, subject, found: undefined };
}

/** A policy and the limits of its tiers. */
export class HeldPolicy {
  readonly config: PolicyConfig;
  readonly #default: HeldLimits;
  readonly #byTier: ReadonlyMap<string, HeldLimits>;

  constructor(config: PolicyConfig) {
    this.config = config;
    this.#default = new HeldLimits(config, config.limits);
    this.#byTier = new Map([...config.byTier].map(([tier, limits]) => [tier, new HeldLimits(config, limits)]));
  }

  /** What a caller is held to: by the tier that was named for it; without one, a stranger is `anonymous`. */
  limitsOf({ tenant, tier }: Caller): HeldLimits {
    if (this.#byTier.size === 0) return this.#default;
    const known = tier ?? (tenant === undefined ? ANONYMOUS_TIER : undefined);
    return (known !== undefined && this.#byTier.get(known)) || this.#default;
  }
}

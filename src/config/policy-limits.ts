import { type Limit, quotaOf, shareOf } from '../model/limit.js';
import type { PolicyPlace } from './policy-config.js';
import {
  type Algorithm,
  type LimitFields,
  type LimitsFields,
  POLICY_DEFAULTS,
  type PolicyFields,
} from './policy-schema.js';

/** Where a policy of this algorithm keeps its limits. */
export function placeOf(algorithm: Algorithm): PolicyPlace {
  return algorithm === 'local' || algorithm === 'leased' ? algorithm : 'redis';
}

/** Whether the algorithm is a bucket, with a rate and a burst; else it is a window, with a limit. */
export function isBucket(algorithm: Algorithm): boolean {
  return algorithm !== 'sliding-window-log' && algorithm !== 'sliding-window-counter';
}

/** The algorithm of a statement of limits: its own, else that of what it stands in. */
export function algorithmOf(stated: Pick<LimitsFields, 'algorithm'>, outer: Algorithm = POLICY_DEFAULTS.algorithm) {
  return stated.algorithm ?? outer;
}

/** The burst of a bucket that states none: the units of one second, rounded up, at least 1. */
export function defaultBurst(ratePerSecond: number): number {
  return Math.max(1, Math.ceil(ratePerSecond));
}

/** The limits of a statement that was found sound, each under a name of its own. `rate: unlimited` is no limit. */
export function limitsOf(stated: LimitsFields, outer: Algorithm): readonly Limit[] {
  const algorithm = algorithmOf(stated, outer);
  const each = (stated.all ?? [stated]).filter(({ rate }) => rate !== Infinity);
  const names = limitNames(each, algorithm);
  return each.map((fields, index) => limitOf(fields, names[index] ?? '', algorithmOf(fields, algorithm)));
}

/** Greatest cost of a call that some caller of a policy can ever have let through; `Infinity` where one is unlimited. */
export function mostAtOnce(policy: PolicyFields): number {
  const algorithm = algorithmOf(policy);
  const { share = POLICY_DEFAULTS.share } = policy;
  const quotas = [policy, ...policy.byTier.values()].map((stated) =>
    Math.min(Infinity, ...limitsOf(stated, algorithm).map((limit) => quotaOf(shareOf(limit, share)))),
  );
  return Math.max(...quotas);
}

/** Only `burst` and `per` may be missing: the others are there when the algorithm needs them. */
function limitOf(fields: LimitFields, name: string, algorithm: Algorithm): Limit {
  const { per = 'key', rate = 0, limit = 0, window = 0, burst = defaultBurst(rate) } = fields;
  return algorithm === 'sliding-window-log' || algorithm === 'sliding-window-counter'
    ? { algorithm, name, per, limit, windowMs: window }
    : { algorithm: 'token-bucket', name, per, ratePerSecond: rate, burst };
}

/** Stated names stay; the others are called after their kind, and counted where that name is taken. */
function limitNames(limits: readonly LimitFields[], outer: Algorithm): readonly string[] {
  const taken = new Set(limits.map(({ name }) => name));
  return limits.map((fields) => {
    if (fields.name !== undefined) return fields.name;
    const kind = isBucket(algorithmOf(fields, outer)) ? 'burst' : 'window';
    let name = kind;
    for (let count = 2; taken.has(name); count++) name = `${kind}-${count}`;
    taken.add(name);
    return name;
  });
}

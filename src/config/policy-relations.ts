import { expectedOf } from './field-text.js';
import { algorithmOf, isBucket, placeOf } from './policy-limits.js';
import { type Algorithm, LimitFields, type LimitsFields, MOST_LIMITS, type PolicyFields } from './policy-schema.js';
import type { Path } from './problem.js';
import type { ProblemList } from './problem-list.js';
import { formatQuantity } from './quantity.js';

/** Ten years. A bucket that takes longer to fill is a mistake, and its key would be kept for as long. */
const MOST_SECONDS = 10 * 365 * 86_400;

type LimitField = keyof LimitFields;
const BUCKET = ['rate', 'burst'] as const satisfies readonly LimitField[];
const WINDOW = ['limit', 'window'] as const satisfies readonly LimitField[];
const SINGLE = [...BUCKET, ...WINDOW, 'per', 'name'] as const satisfies readonly LimitField[];

/** Completes "expected …". */
const STATEMENT_FORM = 'rate (and burst), limit and window, or all: a list of limits';

/** Adds what is wrong between the fields of each policy. */
export function checkPolicies(policies: ReadonlyMap<string, PolicyFields>, problems: ProblemList): void {
  for (const [name, policy] of policies) {
    const path = ['policies', name];
    if (!problems.sound(path) || !problems.sound([...path, 'algorithm'])) continue;
    const algorithm = algorithmOf(policy);
    checkLimits(policy, algorithm, path, problems);
    checkPlace(policy, algorithm, path, problems);
    for (const [tier, stated] of policy.byTier) {
      const place = [...path, 'byTier', tier];
      if (!problems.sound(place) || !checkAlgorithm(stated, algorithm, 'tiers', place, problems)) continue;
      checkLimits(stated, algorithmOf(stated, algorithm), place, problems);
    }
  }
}

/** Fields that only one algorithm has. */
function checkPlace(policy: PolicyFields, algorithm: Algorithm, path: Path, problems: ProblemList): void {
  const owners = [
    ['maxKeys', 'local'],
    ['share', 'local'],
    ['lease', 'leased'],
  ] as const;
  for (const [field, owner] of owners) {
    if (policy[field] === undefined || algorithm === owner) continue;
    problems.add([...path, field], `only algorithm ${owner} has it; this policy is ${algorithm}`);
  }
}

/** An algorithm within a policy goes with that of the policy: where its limits are kept is said once. */
function checkAlgorithm(
  { algorithm }: Pick<LimitsFields, 'algorithm'>,
  outer: Algorithm,
  parts: 'limits' | 'tiers',
  path: Path,
  problems: ProblemList,
): boolean {
  const place = [...path, 'algorithm'];
  if (!problems.sound(place)) return false;
  if (algorithm === undefined) return true;
  if (placeOf(algorithm) !== 'redis' && (parts === 'limits' || algorithm !== outer)) {
    problems.add(place, `${algorithm} is set on the policy, not on one of its ${parts}`);
  } else if (placeOf(outer) !== 'redis' && !isBucket(algorithm)) {
    problems.add(place, `this policy is ${outer}, which has token buckets only; got ${algorithm}`);
  } else return true;
  return false;
}

/** A statement is one limit, or several under `all`. */
function checkLimits(stated: LimitsFields, algorithm: Algorithm, path: Path, problems: ProblemList): void {
  const { all } = stated;
  if (all === undefined) {
    if (!problems.sound([...path, 'all'])) return;
    if (saysNothing(stated, path, problems)) problems.add(path, `expected ${STATEMENT_FORM}; got none of them`);
    else checkLimit(stated, algorithm, path, problems);
    return;
  }
  const place = [...path, 'all'];
  for (const field of SINGLE)
    if (stated[field] !== undefined) problems.add([...path, field], `say ${field} or all, not both`);
  if (problems.sound(place) && (all.length < 1 || all.length > MOST_LIMITS))
    problems.add(place, `expected a list of 1 to ${MOST_LIMITS} limits; got ${all.length}`);
  for (const [index, each] of all.entries()) {
    const item = [...place, index];
    if (!problems.sound(item) || !checkAlgorithm(each, algorithm, 'limits', item, problems)) continue;
    checkLimit(each, algorithmOf(each, algorithm), item, problems);
    const first = all.findIndex(({ name }) => name !== undefined && name === each.name);
    if (first >= 0 && first < index && problems.sound([...item, 'name']))
      problems.add([...item, 'name'], `all[${first}] has this name too`);
  }
}

/** A limit has the fields of its algorithm, all that it needs, and none of the other kind. */
function checkLimit(stated: LimitFields, algorithm: Algorithm, path: Path, problems: ProblemList): void {
  const bucket = isBucket(algorithm);
  const has = (field: LimitField) => isStated(stated, field, path, problems);
  const foreign = (bucket ? WINDOW : BUCKET).filter(has);
  const [own, others] = bucket
    ? ['rate and burst', 'sliding-window-log or sliding-window-counter']
    : ['limit and window', 'token-bucket, local or leased'];
  for (const field of foreign)
    problems.add([...path, field], `${algorithm} takes ${own}; ${field} goes with ${others}`);
  if (foreign.length > 0) return;
  for (const field of bucket ? (['rate'] as const) : WINDOW)
    if (!has(field)) problems.add([...path, field], `required; expected ${expectedOf(LimitFields.properties[field])}`);
  if (bucket) checkBurst(stated, path, problems);
}

function checkBurst({ rate, burst }: LimitFields, path: Path, problems: ProblemList): void {
  if (rate === undefined || burst === undefined) return;
  const place = [...path, 'burst'];
  if (rate === Infinity) {
    problems.add(place, 'an unlimited rate has no burst');
  } else if (burst / rate > MOST_SECONDS) {
    const most = Math.floor(rate * MOST_SECONDS);
    const message = `${burst} units at ${formatQuantity('rate', rate)} take more than ten years to come back; expected at most ${most}`;
    problems.add(place, message);
  }
}

function saysNothing(stated: LimitsFields, path: Path, problems: ProblemList): boolean {
  return !(['algorithm', ...SINGLE] as const).some((field) => isStated(stated, field, path, problems));
}

/** Whether a field is written, if only wrongly: then nothing stands in its place. */
function isStated(stated: LimitFields, field: LimitField, path: Path, problems: ProblemList): boolean {
  return stated[field] !== undefined || !problems.sound([...path, field]);
}

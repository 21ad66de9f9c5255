import { leastCost } from '../model/cost.js';
import { costRule } from './build-config.js';
import type { ConfigFields } from './config-schema.js';
import { mostAtOnce } from './policy-limits.js';
import type { PolicyFields } from './policy-schema.js';
import type { Path } from './problem.js';
import type { ProblemList } from './problem-list.js';

/** What stands at the door of a policy, and what it costs there. */
export interface AtDoor {
  readonly policy: string | undefined;
  readonly cost: number;
  /** Where the cost stands. */
  readonly path: Path;
  /** Begins the sentence that its cost ends. */
  readonly what: string;
}

/** Adds every route whose requests can never pass the policy that they are held to. */
export function checkRouteCosts(
  { routes, policies }: Pick<ConfigFields, 'routes' | 'policies'>,
  problems: ProblemList,
): void {
  for (const [index, { policy, cost }] of routes.entries())
    checkCost({ policy, cost, path: ['routes', index, 'cost'], what: 'costs' }, policies, problems);
}

/** Adds every type whose jobs can never pass the policy at its door. */
export function checkTypeCosts(
  { types, policies }: Pick<ConfigFields, 'types' | 'policies'>,
  problems: ProblemList,
): void {
  for (const [name, { policy, cost: stated }] of types) {
    const cost = leastCost(costRule(stated));
    checkCost({ policy, cost, path: ['types', name, 'cost'], what: 'every job costs at least' }, policies, problems);
  }
}

/** Adds what can never pass, whoever calls. */
export function checkCost(
  { policy: name, cost, path, what }: AtDoor,
  policies: ReadonlyMap<string, PolicyFields>,
  problems: ProblemList,
): void {
  const policy = name === undefined ? undefined : policies.get(name);
  if (name === undefined || policy === undefined || !problems.soundWithin(['policies', name])) return;
  const most = mostAtOnce(policy);
  if (cost <= most || !problems.soundWithin(path)) return;
  problems.add(path, `${what} ${cost}; policy ${name} lets ${most} pass at once, for any caller`);
}

import { formatPath, type Path } from '../config/problem.js';
import type { CostRule } from '../model/cost.js';
import type { Admission } from '../model/verdict.js';
import type { Decision } from '../policing/policing.js';
import type { RouteParts } from './http-app.js';
import { policedProblem } from './policed-answer.js';
import type { Problem } from './problems.js';
import type { JobAtDoor } from './read-job.js';

/** What the policy at the door of its type says of a job, charged with the job's cost; `undefined`: there is none. */
export function policeJob(
  { keeper: { door }, policed }: Pick<RouteParts, 'keeper' | 'policed'>,
  { type, tenant, job }: JobAtDoor,
): Promise<Decision> | undefined {
  const policy = door.type(type)?.policy ?? null;
  if (policy === null) return undefined;
  return policed.policing.decide({ policy, caller: { tenant, tier: door.tier(tenant) }, cost: job.cost });
}

/**
 * Gives back what a policy charged for a job that was not added: turned away further on, or there already. Where nobody
 * knows whether it was added, nothing is given back.
 */
export function giveBackUnlessAdded(decision: Decision | undefined, admission: Admission): Promise<void> | undefined {
  return admission.verdict === 'rejected' || admission.replayed ? decision?.giveBack() : undefined;
}

/** The problem of a job that its type's policy refuses. `at` is where the job stands in the body. */
export function policedJobProblem(
  { keeper }: Pick<RouteParts, 'keeper'>,
  { type }: JobAtDoor,
  decision: Decision,
  at: Path,
): Problem {
  return policedProblem(decision, costField(keeper.door.type(type)?.cost, at));
}

/** Where the caller wrote what gives the job its cost. `at` is where the job stands in the body. */
export function costField(rule: CostRule | undefined, at: Path): string {
  const field = rule?.kind === 'field' ? rule.from : rule?.kind === 'request' ? 'cost' : 'type';
  return at.length === 0 ? field : `${formatPath(at)}.${field}`;
}

import type { Admission } from '../model/verdict.js';
import type { Problem, ProblemCode } from './problems.js';
import type { JobAtDoor } from './read-job.js';

/** Counts what became of sound jobs at the door: of ones whose type and tenant are known. */
export interface DoorTally {
  admitted(job: Pick<JobAtDoor, 'type' | 'tenant' | 'job'>): void;
  rejected(job: Pick<JobAtDoor, 'type' | 'tenant'>, reason: ProblemCode): void;
}

/** Where nobody asks. */
export const NO_TALLY: DoorTally = { admitted: () => undefined, rejected: () => undefined };

/** Tells both. */
export function bothTallies(one: DoorTally, other: DoorTally): DoorTally {
  return {
    admitted: (job) => {
      one.admitted(job);
      other.admitted(job);
    },
    rejected: (job, reason) => {
      one.rejected(job, reason);
      other.rejected(job, reason);
    },
  };
}

/** Counts one job as admitted, unless it was there already. */
export function tallyAdmitted(
  tally: DoorTally,
  job: JobAtDoor,
  admission: Extract<Admission, { verdict: 'admitted' }>,
): void {
  if (!admission.replayed) tally.admitted(job);
}

/** Counts jobs that one problem turned away, and returns it. */
export function tallied(tally: DoorTally, jobs: readonly JobAtDoor[], problem: Problem): Problem {
  for (const job of jobs) tally.rejected(job, problem.code);
  return problem;
}

import type { Trace, TracedJob } from '../simulation.js';

/** A worker learns of an instant in whole microseconds, rounded up. */
const ROUNDING_US = 2;

/** How well the starts that the door promised were kept, where workers look in time and slots are free. */
export interface Kept {
  /** Jobs whose promise was exact and that nobody overtook: they started just then. */
  readonly exact: number;
  /** What was promised otherwise than it came, first of all. */
  readonly broken: TracedJob | undefined;
}

/**
 * G9: a job that nobody overtook, later and of a higher priority, starts at the very instant that its admission promised
 * with basis `rate`. A promise that rests on a delay is a lower bound, and so is any with `at least`.
 */
export function keptPromises({ jobs, starts }: Trace, how: 'exactly' | 'at least' = 'exactly'): Kept {
  const judged = jobs.filter((job) => !overtaken(job, starts));
  const broken = judged.find(({ verdict, admittedAtUs, startedAtUs = Infinity }) => {
    if (verdict.kind !== 'admitted') return true;
    const lateUs = startedAtUs - (admittedAtUs + verdict.waitUs);
    if (how === 'exactly' && verdict.basis === 'rate') return Math.abs(lateUs) > ROUNDING_US;
    return lateUs < -ROUNDING_US;
  });
  const exact = judged.filter(({ verdict }) => verdict.kind === 'admitted' && verdict.basis === 'rate');
  return { exact: exact.length, broken };
}

function overtaken(job: TracedJob, starts: readonly TracedJob[]): boolean {
  const before = starts.slice(0, starts.indexOf(job));
  return before.some(
    ({ id, tenant, startedAtUs = 0 }) => tenant === job.tenant && startedAtUs >= job.admittedAtUs && !job.ahead.has(id),
  );
}

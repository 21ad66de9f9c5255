import type { TracedJob } from '../simulation.js';

/**
 * G2: within one bucket and one priority, jobs start in the order in which they joined what waits: were admitted, or fell
 * due. Answers the first pair that did not, in the order in which it started.
 */
export function firstOutOfOrder(starts: readonly TracedJob[]): readonly [TracedJob, TracedJob] | undefined {
  const last = new Map<string, TracedJob>();
  for (const job of starts) {
    const queue = `${job.tenant} ${job.priority}`;
    const before = last.get(queue);
    if (before && job.joinsAtUs < before.joinsAtUs) return [before, job];
    last.set(queue, job);
  }
  return undefined;
}

import type { JobRecord } from './case-file.js';

const ENDS: ReadonlySet<string | null> = new Set(['completed', 'failed', 'expired', 'cancelled']);

/** True for the states that a job reaches once and for good. */
export function isEnd(state: string | null): boolean {
  return ENDS.has(state);
}

/** One time that HTTP said a job had ended. */
export interface SeenEnd {
  readonly state: string;
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly result?: unknown;
}

/** Every time that HTTP said the job had ended, in the order of the answers; a cancellation answered 200 is one. */
export function seenEnds(job: JobRecord): readonly SeenEnd[] {
  const cancelled = job.cancellations
    .filter((event) => event.status === 200)
    .map(({ sentAt, answeredAt }): SeenEnd => ({ state: 'cancelled', sentAt, answeredAt }));
  const seen = job.sights.flatMap((sight): SeenEnd[] => {
    if (sight.state === null || !isEnd(sight.state)) return [];
    const { state, sentAt, answeredAt } = sight;
    return [
      sight.result === undefined ? { state, sentAt, answeredAt } : { state, sentAt, answeredAt, result: sight.result },
    ];
  });
  return [...cancelled, ...seen].sort((a, b) => a.answeredAt - b.answeredAt);
}

/**
 * The last instant at which a job may have been waiting; `Infinity` when nothing tells. One whose last run did not succeed may
 * have waited for another until it was seen at an end.
 */
export function lastPossiblyWaiting(job: JobRecord): number {
  const last = job.runs.at(-1);
  if (last?.outcome === 'ok') return last.startAt;
  const gone = job.sights.filter(({ state }) => isEnd(state));
  const cancelled = job.cancellations.filter((event) => event.status === 200);
  return Math.min(...[...gone, ...cancelled].map((event) => event.answeredAt));
}

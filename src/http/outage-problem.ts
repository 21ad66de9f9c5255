import type { Problem } from './problems.js';

/** What is answered while Redis is away: come back in one to five seconds, spread so that not everybody comes at once. */
export function outageProblem(random: () => number, id?: string | readonly string[]): Problem {
  return {
    code: 'redis_unavailable',
    detail:
      id === undefined
        ? 'The store did not answer in time.'
        : 'The store did not answer in time. It may or may not have taken the job: ask for it by its id, or send it again under an Idempotency-Key.',
    retryAfterMs: 1000 + Math.floor(random() * 4000),
    ...(id === undefined ? {} : typeof id === 'string' ? { id } : { ids: id }),
  };
}

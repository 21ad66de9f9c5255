import { performance } from 'node:perf_hooks';

/** Microseconds by a clock that does not go back; since when does not matter. */
export type ClockUs = () => number;

/** The process' own: it knows nothing of the time of day, so nobody can set it. */
export const monotonicUs: ClockUs = () => performance.now() * 1000;

/** `clock`, standing still where it would go back. */
export function neverBack(clock: ClockUs): ClockUs {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock();
    if (now > last) last = now;
    return last;
  };
}

import { quantile } from '../statistics.js';
import type { Promised } from './contender.js';

/** A promise, and when the answer with it was here, by the clock of this process in milliseconds. */
export interface JudgedPromise {
  readonly number: number;
  readonly answeredAt: number;
  readonly promise: Promised;
}

/** How far starts were from what was promised. Milliseconds. */
export interface Errors {
  readonly promises: number;
  /** Of |start − promised|. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of |start − promised| over the promised wait, where that is more than 100 ms. */
  readonly relativeP50: number;
  /** Of those with an interval, how many starts lay in it; NaN where none had. */
  readonly within: number;
}

/** Errors of the promises whose jobs have started, by basis. */
export function errorsOf(
  judged: readonly JudgedPromise[],
  startedAt: ReadonlyMap<number, number>,
): Readonly<Record<string, Errors>> {
  const byBasis = new Map<string, { error: number; waitMs: number; within: boolean | null }[]>();
  for (const { number, answeredAt, promise } of judged) {
    const start = startedAt.get(number);
    if (start === undefined) continue;
    const waitedMs = start - answeredAt;
    const [low, high] = promise.betweenMs ?? [0, 0];
    const within = promise.betweenMs === null ? null : low <= waitedMs && waitedMs <= high;
    const error = Math.abs(waitedMs - promise.waitMs);
    const known = byBasis.get(promise.basis) ?? [];
    known.push({ error, waitMs: promise.waitMs, within });
    byBasis.set(promise.basis, known);
  }
  return Object.fromEntries([...byBasis].map(([basis, known]) => [basis, summary(known)]));
}

function summary(known: readonly { error: number; waitMs: number; within: boolean | null }[]): Errors {
  const errors = known.map(({ error }) => error);
  const relative = known.filter(({ waitMs }) => waitMs > 100).map(({ error, waitMs }) => error / waitMs);
  const bounded = known.filter(({ within }) => within !== null);
  return {
    promises: known.length,
    p50Ms: quantile(errors, 0.5),
    p99Ms: quantile(errors, 0.99),
    relativeP50: quantile(relative, 0.5),
    within: bounded.filter(({ within }) => within).length / bounded.length,
  };
}

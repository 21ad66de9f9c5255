/** @import { TypeRow } from './stream-state.js' */

/** A type's reservoir as it is drawn, in a box of 236 by 132. */
export const RESERVOIR = { width: 236, height: 132, left: 44, right: 228, top: 24, floor: 106 };

/** Where the marks of its scale stand: a backlog has no end that is known, so every tenfold is a step. */
export const MARKS = [10, 100, 1000, 10_000];
const TOP_OF_SCALE = 100_000;
const MOST_WORKERS_DRAWN = 16;

/**
 * The height of a backlog in the reservoir.
 *
 * @param {number} jobs
 * @returns {number} y within the box
 */
export function backlogY(jobs) {
  const { top, floor } = RESERVOIR;
  const fraction = Math.min(1, Math.log10(1 + Math.max(0, jobs)) / Math.log10(1 + TOP_OF_SCALE));
  return Number((floor - (floor - top) * fraction).toFixed(2));
}

/**
 * How thick a stream is drawn that carries so much of what the gate can carry.
 *
 * @param {number} perSecond
 * @param {number} fullPerSecond
 * @returns {number} 0 to 14
 */
export function streamWidth(perSecond, fullPerSecond) {
  if (perSecond <= 0) return 0;
  const fraction = fullPerSecond > 0 ? Math.min(1, perSecond / fullPerSecond) : 1;
  return Number((2 + 12 * fraction).toFixed(2));
}

/**
 * The workers, one mark each: busy or free. Where there are too many to draw, a mark is several.
 *
 * @param {Pick<TypeRow, 'busy' | 'running' | 'concurrency'>} row
 * @returns {boolean[]} true where busy; empty where nobody said how many there are
 */
export function workerMarks({ busy, running, concurrency }) {
  if (concurrency === null || concurrency <= 0) return [];
  const marks = Math.min(concurrency, MOST_WORKERS_DRAWN);
  const taken = Math.min(concurrency, busy ?? running);
  const lit = taken === 0 ? 0 : Math.max(1, Math.round((taken / concurrency) * marks));
  return Array.from({ length: marks }, (_, index) => index < lit);
}

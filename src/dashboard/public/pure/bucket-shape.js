/** @import { BucketRow } from './stream-state.js' */

/**
 * A bucket as it is drawn, in a box of 80 by 96: wider above than below, with an outlet in the middle of its floor.
 * `depthY` is where the line of its depth runs; who is full stands at it, and above it water runs over.
 */
export const BUCKET = {
  width: 80,
  height: 96,
  rimY: 8,
  depthY: 16,
  floorY: 78,
  rimHalf: 34,
  floorHalf: 24,
  middle: 40,
};

/** What leaks faster is not shown as drops: it runs as a stream. */
const STREAM_FROM_PER_SECOND = 3;
const LEAST_WATER = 0.07;

/**
 * How full a bucket is drawn, 0 to 1 at its depth: by the jobs that wait, and where jobs are policed by the level
 * within the burst. Where the depth is unlimited there is no line, and every tenfold backlog is a fifth more.
 *
 * @param {Pick<BucketRow, 'mode' | 'waiting' | 'delayed' | 'depth' | 'level' | 'burst'>} row
 * @returns {number}
 */
export function fullness({ mode, waiting, delayed, depth, level, burst }) {
  if (mode === 'police') return part(level, burst);
  const jobs = waiting + delayed;
  if (depth === null) return clamp(Math.log10(1 + jobs) / 5);
  return part(jobs, depth);
}

/**
 * The water as a path. Water that is there is always seen.
 *
 * @param {number} fraction 0 to 1
 * @returns {string} empty when there is none
 */
export function waterPath(fraction) {
  if (fraction <= 0) return '';
  const { depthY, floorY, floorHalf, middle } = BUCKET;
  const y = floorY - (floorY - depthY) * Math.max(LEAST_WATER, fraction);
  const half = halfWidthAt(y);
  return `M${fixed(middle - half)} ${fixed(y)}H${fixed(middle + half)}L${middle + floorHalf} ${floorY}H${middle - floorHalf}Z`;
}

/** The walls and the floor. @returns {string} */
export function wallPath() {
  const { rimY, floorY, rimHalf, floorHalf, middle } = BUCKET;
  return `M${middle - rimHalf} ${rimY}L${middle - floorHalf} ${floorY}H${middle + floorHalf}L${middle + rimHalf} ${rimY}`;
}

/** The line of the depth, from wall to wall. @returns {{ x1: number, x2: number, y: number }} */
export function depthLine() {
  const half = halfWidthAt(BUCKET.depthY);
  return { x1: BUCKET.middle - half, x2: BUCKET.middle + half, y: BUCKET.depthY };
}

/**
 * How a bucket leaks: drops at its rate while something waits and may start, a stream where that is fast.
 *
 * @param {Pick<BucketRow, 'waiting' | 'running' | 'ratePerSecond' | 'paused' | 'trouble'>} row
 * @returns {{ flow: 'none' | 'plugged' | 'drops' | 'stream', periodMs: number }}
 */
export function leak({ waiting, running, ratePerSecond, paused, trouble }) {
  if (paused || trouble.includes('held') || ratePerSecond === 0) return { flow: 'plugged', periodMs: Infinity };
  if (waiting === 0) return { flow: running > 0 && ratePerSecond === null ? 'stream' : 'none', periodMs: Infinity };
  if (ratePerSecond === null || ratePerSecond > STREAM_FROM_PER_SECOND) return { flow: 'stream', periodMs: 0 };
  return { flow: 'drops', periodMs: 1000 / ratePerSecond };
}

/** @param {number} y */
function halfWidthAt(y) {
  const { rimY, floorY, rimHalf, floorHalf } = BUCKET;
  return floorHalf + ((rimHalf - floorHalf) * (floorY - y)) / (floorY - rimY);
}

/** @param {number} amount @param {number} whole */
function part(amount, whole) {
  return whole > 0 ? clamp(amount / whole) : 0;
}

/** @param {number} number */
function clamp(number) {
  return Math.min(1, Math.max(0, number));
}

/** @param {number} number */
function fixed(number) {
  return Number(number.toFixed(2));
}

import { clock } from './format.js';

/** A few points alone would be as wide as the chart. */
const LEAST_SPAN_S = 120;

/**
 * From when to when a chart goes, in seconds since 1970: it ends at the last point.
 *
 * @param {readonly (readonly (number | null)[])[]} points each begins with its instant, in milliseconds
 * @returns {[number, number]}
 */
export function timeSpan(points) {
  const last = (points.at(-1)?.[0] ?? 0) / 1000;
  return [Math.min((points[0]?.[0] ?? 0) / 1000, last - LEAST_SPAN_S), last];
}

/**
 * Names of the instants at the marks of an axis, of which no two are alike.
 *
 * @param {readonly number[]} marks in seconds since 1970, equally far apart
 */
export function timeMarks(marks) {
  const [first = 0, second = Infinity] = marks;
  return marks.map((at) => clock(at * 1000).slice(0, second - first < 60 ? 8 : 5));
}

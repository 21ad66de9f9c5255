/**
 * @typedef {object} ListShape
 * @property {number} total items in all
 * @property {number} columns beside one another
 * @property {number} rowHeight in pixels
 */

/** Streams are asked for windows that begin at multiples of this, so that a little scrolling asks for none. */
const STEP = 20;
/** Rows that are drawn above and below what is seen. */
const SPARE_ROWS = 2;

/**
 * Which items are seen, and some before and behind.
 *
 * @param {ListShape} shape
 * @param {number} scrolled pixels of the list above the screen; below 0 when it begins further down
 * @param {number} screenHeight
 * @returns {{ from: number, to: number }} `to` is behind the last
 */
export function seenItems({ total, columns, rowHeight }, scrolled, screenHeight) {
  const firstRow = Math.max(0, Math.floor(scrolled / rowHeight) - SPARE_ROWS);
  const lastRow = Math.ceil((scrolled + screenHeight) / rowHeight) + SPARE_ROWS;
  const to = Math.min(total, Math.max(0, lastRow * columns));
  return { from: Math.min(firstRow * columns, to), to };
}

/**
 * The window to ask a stream for, so that the items are in it. The one at hand is kept as long as it will do.
 *
 * @param {{ from: number, to: number }} seen
 * @param {{ from: number, count: number }} current
 * @returns {{ from: number, count: number }}
 */
export function wantedWindow(seen, current) {
  const length = seen.to - seen.from;
  const holds = seen.from >= current.from && seen.to <= current.from + current.count;
  if (holds && current.count <= 3 * length + 2 * STEP) return current;
  const from = Math.max(0, Math.floor((seen.from - length / 2) / STEP) * STEP);
  const count = Math.min(200, Math.ceil((2 * length + STEP) / STEP) * STEP);
  return { from, count };
}

/**
 * @param {ListShape} shape
 * @returns {number} pixels of the whole list
 */
export function listHeight({ total, columns, rowHeight }) {
  return Math.ceil(total / columns) * rowHeight;
}

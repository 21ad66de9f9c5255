const FIRST_MS = 500;
const LONGEST_MS = 10_000;

/**
 * How long to wait before another attempt to reach the server: twice as long each time, and never all pages at once.
 *
 * @param {number} failures in a row, from 1
 * @param {number} random 0 to 1
 * @returns {number} milliseconds
 */
export function reconnectAfterMs(failures, random) {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1));
  return Math.round(longest * (0.5 + random / 2));
}

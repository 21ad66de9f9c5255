/** @import { Share, Summary } from './stream-state.js' */

/**
 * Who takes more than its share, and who pays for it, in words.
 *
 * @param {Summary} summary
 * @param {number | null} jain
 * @returns {{ verdict: string, noisy: readonly string[], paying: readonly string[] }}
 */
export function fairnessWords({ names, shares }, jain) {
  const paying = names.starved?.length ? names.starved : [];
  const noisy = names.noisy ?? [];
  return { verdict: verdictOf(jain, shares), noisy, paying };
}

/** @param {number | null} jain @param {readonly Share[]} shares */
function verdictOf(jain, shares) {
  if (jain === null || shares.length < 2) return 'Too few tenants compete to compare them.';
  if (jain >= 0.99) return 'Everybody gets what it deserves.';
  return jain >= 0.9 ? 'Shares are close to what is deserved.' : 'Shares are far from what is deserved.';
}

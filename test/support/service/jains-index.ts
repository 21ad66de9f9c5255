/**
 * Jain's index of fairness: 1 when all are equal, 1/n when one has everything. R. Jain, D. Chiu, W. Hawe, "A Quantitative
 * Measure of Fairness and Discrimination for Resource Allocation in Shared Computer Systems", DEC TR-301, 1984.
 */
export function jainsIndex(shares: readonly number[]): number {
  const sum = shares.reduce((all, share) => all + share, 0);
  const squares = shares.reduce((all, share) => all + share * share, 0);
  return squares === 0 ? 1 : (sum * sum) / (shares.length * squares);
}

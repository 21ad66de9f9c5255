/** Jain's index of the values: 1 when all are equal, 1/n when one has everything (Jain, Chiu, Hawe, DEC-TR-301, 1984). */
export function jain(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0);
  const squares = values.reduce((total, value) => total + value * value, 0);
  return squares === 0 ? Number.NaN : (sum * sum) / (values.length * squares);
}

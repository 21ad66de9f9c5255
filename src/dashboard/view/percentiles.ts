/** What so many of some values are at most. */
export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

/** By the nearest rank; `null` of nothing. */
export function percentiles(values: readonly number[]): Percentiles | null {
  const sorted = [...values].sort((one, other) => one - other);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return sorted.length === 0 ? null : { p50: at(0.5), p90: at(0.9), p99: at(0.99) };
}

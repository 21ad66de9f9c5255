/** Who draws from a shared capacity. */
export interface Claim {
  /** The share relative to the others. */
  readonly weight: number;
  /** The most that is wanted or allowed, in the unit of the capacity; `Infinity` for no limit. */
  readonly limit: number;
}

/**
 * The weighted max-min fair division of `capacity`: everybody gets its weight's part of what is there, and what those
 * whose limit is below their part leave is divided among the others in the same way. One amount per claim, in order.
 */
export function waterFilling(capacity: number, claims: readonly Claim[]): number[] {
  const given = new Map<Claim, number>();
  let left = capacity;
  let open = [...claims];
  while (open.length > 0) {
    const perWeight = left / open.reduce((sum, claim) => sum + claim.weight, 0);
    const filled = open.filter((claim) => claim.limit <= claim.weight * perWeight);
    for (const claim of filled) {
      given.set(claim, claim.limit);
      left -= claim.limit;
    }
    if (filled.length === 0) {
      for (const claim of open) given.set(claim, claim.weight * perWeight);
      break;
    }
    open = open.filter((claim) => !filled.includes(claim));
  }
  return claims.map((claim) => given.get(claim) ?? 0);
}

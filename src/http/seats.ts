/** How many may stay connected at once. */
export interface SeatLimits {
  readonly perTenant: number;
  readonly total: number;
}

/**
 * A taken seat, to be given up exactly once it is no longer used; or why there is none: the tenant has all of his, or
 * everybody together has all there are.
 */
export type Seat =
  | { readonly taken: true; readonly leave: () => void }
  | { readonly taken: false; readonly full: Full };
type Full = 'tenant' | 'process';

/** Places for callers who stay connected: so many for one tenant, so that he leaves some to others, and so many in all. */
export class Seats {
  readonly #limits: SeatLimits;
  readonly #byTenant = new Map<string, number>();
  #total = 0;

  constructor(limits: SeatLimits) {
    this.#limits = limits;
  }

  /** Seats in use. */
  get taken(): number {
    return this.#total;
  }

  take(tenant: string): Seat {
    const own = this.#byTenant.get(tenant) ?? 0;
    if (own >= this.#limits.perTenant) return { taken: false, full: 'tenant' };
    if (this.#total >= this.#limits.total) return { taken: false, full: 'process' };
    this.#byTenant.set(tenant, own + 1);
    this.#total += 1;
    let left = false;
    return {
      taken: true,
      leave: () => {
        if (!left) this.#leave(tenant);
        left = true;
      },
    };
  }

  #leave(tenant: string): void {
    const own = (this.#byTenant.get(tenant) ?? 1) - 1;
    if (own === 0) this.#byTenant.delete(tenant);
    else this.#byTenant.set(tenant, own);
    this.#total -= 1;
  }
}

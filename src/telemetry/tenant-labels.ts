/** What tenants beyond the bound are summed as, and a tenant that is really called so with them. */
export const OTHER_TENANTS = 'other';

/**
 * Which tenants have series of their own in one process: the first so many that it meets. Who has one keeps it, since a
 * counter that changes its name looks like a restart; so no number of tenants makes the answer larger than the bound.
 */
export class TenantLabels {
  readonly #most: number;
  readonly #named = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  /** The label of a tenant. */
  of(tenant: string): string {
    if (this.#named.has(tenant)) return tenant;
    if (tenant === OTHER_TENANTS || this.#named.size >= this.#most) return OTHER_TENANTS;
    this.#named.add(tenant);
    return tenant;
  }
}

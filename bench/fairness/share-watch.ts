import { quantile } from '../statistics.js';
import { byTenant } from './by-tenant.js';
import type { OfferedJob } from './contender.js';
import { jain } from './jain.js';

/** Who was served while everybody waited for workers. */
export interface Scarce {
  readonly jobsPerSecond: number;
  /** Of served cost over weight, among the tenants who always had something waiting. */
  readonly jain: number;
  /** The least and the most that one of them got, as parts of an even share. */
  readonly least: number;
  readonly most: number;
  /** The largest |Wᵢ/wᵢ − Wⱼ/wⱼ| of any two, over its bound cᵢ/wᵢ + cⱼ/wⱼ. */
  readonly spreadOverBound: number;
  /** Wait of the newcomers; without end for those who were not served in the window. */
  readonly newcomerP50Ms: number;
  readonly newcomerP99Ms: number;
  readonly windowMs: number;
}

/** Sees who starts when, while nobody's backlog ends. */
export class ShareWatch {
  readonly #weightOf: ReadonlyMap<string, number>;
  readonly #costs = new Map<number, number>();
  readonly #left = new Map<string, number>();
  readonly #served = new Map<string, number>();
  readonly #largest = new Map<string, number>();
  readonly #arrivedAt = new Map<string, number>();
  readonly #waits = new Map<string, number>();
  #starts = 0;
  #until = { starts: Number.POSITIVE_INFINITY, resolve: () => {} };
  #openedAt = Number.NaN;
  #closedAt = Number.NaN;
  #startsAtOpening = 0;

  constructor(weightOf: ReadonlyMap<string, number>) {
    this.#weightOf = weightOf;
  }

  get isClosed(): boolean {
    return !Number.isNaN(this.#closedAt);
  }

  offered(jobs: readonly OfferedJob[]): void {
    for (const [tenant, own] of byTenant(jobs)) {
      this.#left.set(tenant, own.length);
      this.#largest.set(tenant, Math.max(...own.map(({ cost = 1 }) => cost)));
    }
    for (const { number, cost = 1 } of jobs) this.#costs.set(number, cost);
  }

  arrived(tenant: string): void {
    this.#arrivedAt.set(tenant, performance.now());
  }

  started({ tenant, number }: OfferedJob): void {
    if (this.isClosed) return;
    this.#starts += 1;
    const arrivedAt = this.#arrivedAt.get(tenant);
    if (arrivedAt === undefined) this.#count(tenant, this.#costs.get(number) ?? 1);
    else this.#waits.set(tenant, performance.now() - arrivedAt);
    if (this.#starts >= this.#until.starts) this.#until.resolve();
  }

  #count(tenant: string, cost: number): void {
    this.#left.set(tenant, (this.#left.get(tenant) ?? 0) - 1);
    if (Number.isNaN(this.#openedAt)) return;
    this.#served.set(tenant, (this.#served.get(tenant) ?? 0) + cost);
  }

  /** Resolves after so many more starts. */
  starts(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#until = { starts: this.#starts + count, resolve };
    });
  }

  open(): void {
    this.#openedAt = performance.now();
    this.#startsAtOpening = this.#starts;
  }

  close(): void {
    this.#closedAt = performance.now();
  }

  judge(): Scarce {
    const windowMs = this.#closedAt - this.#openedAt;
    const backlogged = [...this.#left].filter(([, left]) => left > 0).map(([tenant]) => tenant);
    const shares = backlogged.map((tenant) => (this.#served.get(tenant) ?? 0) / (this.#weightOf.get(tenant) ?? 1));
    const even = shares.reduce((sum, share) => sum + share, 0) / shares.length;
    const bounds = backlogged.map((tenant) => (this.#largest.get(tenant) ?? 1) / (this.#weightOf.get(tenant) ?? 1));
    const waits = [...this.#arrivedAt.keys()].map((tenant) => this.#waits.get(tenant) ?? Number.POSITIVE_INFINITY);
    return {
      jobsPerSecond: ((this.#starts - this.#startsAtOpening) * 1000) / windowMs,
      jain: jain(shares),
      least: Math.min(...shares) / even,
      most: Math.max(...shares) / even,
      spreadOverBound: widest(shares, bounds),
      newcomerP50Ms: quantile(waits, 0.5),
      newcomerP99Ms: quantile(waits, 0.99),
      windowMs,
    };
  }
}

/** The largest difference of two shares over the sum of their bounds. */
function widest(shares: readonly number[], bounds: readonly number[]): number {
  let most = 0;
  for (const [i, share] of shares.entries()) {
    for (let j = 0; j < i; j += 1) {
      most = Math.max(most, Math.abs(share - (shares[j] ?? share)) / ((bounds[i] ?? 1) + (bounds[j] ?? 1)));
    }
  }
  return most;
}

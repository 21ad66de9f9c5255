import type { Counter, Histogram } from 'prom-client';
import type { MetricRegistry } from './metric-registry.js';
import { METRICS } from './metric-table.js';
import type { LoggedEnd, SeenRun } from './run-line.js';
import type { TenantLabels } from './tenant-labels.js';

type OfTenant = 'type' | 'tenant';
type Bucket = Readonly<Record<OfTenant, string>>;

/** Outcomes of a run with which its job ends, too; of a job that was asked to stop and would wait again a sweep tells. */
const ENDINGS: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/**
 * Counts runs of jobs, whoever has them: a pool of this process, or workers elsewhere that speak with it. And ends of jobs, in
 * whichever process hears of one: that of the run, that of the order, or that of the sweep.
 */
export class RunMetrics {
  readonly #tenants: TenantLabels;
  readonly #started: Counter<OfTenant>;
  readonly #ended: Counter<OfTenant | 'outcome'>;
  readonly #jobsEnded: Counter<OfTenant | 'outcome'>;
  readonly #wait: Histogram<OfTenant>;
  readonly #run: Histogram<OfTenant>;
  readonly #slip: Histogram<'type' | 'basis'>;
  readonly #lostLocks: Counter<'type'>;
  readonly #recovered: Counter<'type'>;

  /** @param types Those of which it is said from the beginning that no lock was lost and no job taken back. */
  constructor(registry: MetricRegistry, tenants: TenantLabels, types: Iterable<string>) {
    this.#tenants = tenants;
    this.#started = registry.counter(METRICS.started);
    this.#ended = registry.counter(METRICS.ended);
    this.#jobsEnded = registry.counter(METRICS.jobsEnded);
    this.#wait = registry.histogram(METRICS.wait);
    this.#run = registry.histogram(METRICS.run);
    this.#slip = registry.histogram(METRICS.slip);
    this.#lostLocks = registry.counter(METRICS.lostLocks);
    this.#recovered = registry.counter(METRICS.recovered);
    for (const type of types) {
      this.#lostLocks.inc({ type }, 0);
      this.#recovered.inc({ type }, 0);
    }
  }

  /** `slip`: how its promised start was kept, of its first one. */
  started({ type, tenant }: Bucket, slip: { readonly basis: string; readonly slipMs: number } | undefined): void {
    this.#started.inc({ type, tenant: this.#tenants.of(tenant) });
    if (slip) this.#slip.observe({ type, basis: slip.basis }, slip.slipMs / 1000);
  }

  ended({ job: { type, tenant }, outcome, verdict, waitMs, runMs }: SeenRun): void {
    const labels = { type, tenant: this.#tenants.of(tenant) };
    this.#ended.inc({ ...labels, outcome: verdict === 'lost' ? 'lost' : outcome.kind });
    if (verdict === 'lost') this.#lostLocks.inc({ type });
    else if (ENDINGS.has(outcome.kind)) this.#jobsEnded.inc({ ...labels, outcome: outcome.kind });
    this.#wait.observe(labels, waitMs / 1000);
    this.#run.observe(labels, runMs / 1000);
  }

  /** Jobs ended without a run that could say so. */
  unseen(ends: readonly LoggedEnd[]): void {
    for (const { job, ending } of ends) {
      this.#jobsEnded.inc({ type: job.type, tenant: this.#tenants.of(job.tenant), outcome: ending });
    }
  }

  /** So many jobs of a bucket were cancelled before they ran. */
  cancelled({ type, tenant }: Bucket, jobs: number): void {
    this.#jobsEnded.inc({ type, tenant: this.#tenants.of(tenant), outcome: 'cancelled' }, jobs);
  }

  /** So many jobs were taken back from workers that are gone. */
  recovered(type: string, jobs: number): void {
    this.#recovered.inc({ type }, jobs);
  }
}

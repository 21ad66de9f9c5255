import type { Gauge } from 'prom-client';
import type { ScriptWatcher } from '../src/redis/script.js';
import { parseJobId } from '../src/shaping/job-id.js';
import { MetricRegistry } from '../src/telemetry/metric-registry.js';
import { METRICS } from '../src/telemetry/metric-table.js';
import { RunMetrics } from '../src/telemetry/run-metrics.js';
import { TenantLabels } from '../src/telemetry/tenant-labels.js';
import type { Pool } from './pool.js';
import type { Runner } from './runner.js';

export interface WorkerMetricsOptions {
  readonly pool: Pick<Pool, 'on'>;
  readonly runners: readonly Runner[];
  /** How many tenants are named. */
  readonly tenants: number;
  /** Whether Redis answers now. Never rejects. */
  readonly redisAnswers: () => Promise<boolean>;
}

/** The metrics of a worker process: what it did with the jobs that it was handed. */
export class WorkerMetrics {
  readonly contentType: string;
  readonly watchScript: ScriptWatcher;
  readonly #registry = new MetricRegistry();
  readonly #runners: readonly Runner[];
  readonly #redisAnswers: () => Promise<boolean>;
  readonly #redisUp: Gauge;
  readonly #gauges: readonly (readonly [gauge: Gauge<'type'>, of: (runner: Runner) => number])[];

  constructor({ pool, runners, tenants, redisAnswers }: WorkerMetricsOptions) {
    const registry = this.#registry;
    this.contentType = registry.contentType;
    this.#runners = runners;
    this.#redisAnswers = redisAnswers;
    this.#redisUp = registry.gauge(METRICS.redisUp);
    this.#gauges = [
      [registry.gauge(METRICS.slots), ({ slots }) => slots],
      [registry.gauge(METRICS.busy), ({ running }) => running],
      [registry.gauge(METRICS.silent), ({ silentMs }) => silentMs / 1000],
    ];
    const script = registry.histogram(METRICS.script);
    this.watchScript = (verb, durationMs) => script.observe({ verb }, durationMs / 1000);
    this.#count(pool, new TenantLabels(tenants));
  }

  /** All of it now, in the text format of Prometheus. */
  async text(): Promise<string> {
    this.#redisUp.set((await this.#redisAnswers()) ? 1 : 0);
    for (const runner of this.#runners) {
      for (const [gauge, of] of this.#gauges) gauge.set({ type: runner.source.type }, of(runner));
    }
    return this.#registry.text();
  }

  #count(pool: Pick<Pool, 'on'>, tenants: TenantLabels): void {
    const runs = new RunMetrics(
      this.#registry,
      tenants,
      this.#runners.map(({ source }) => source.type),
    );
    const lag = this.#registry.histogram(METRICS.lag);
    pool.on('active', (job, slip) => runs.started(job, slip));
    for (const event of ['completed', 'failed', 'released'] as const) pool.on(event, (run) => runs.ended(run));
    pool.on('unseen', (ends) => runs.unseen(ends));
    pool.on('taken', (type, lagMs) => lag.observe({ type }, lagMs / 1000));
    pool.on('stalled', (ids) => {
      for (const id of ids) runs.recovered(parseJobId(id)?.type ?? '', 1);
    });
  }
}

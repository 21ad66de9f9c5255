import type { Gauge } from 'prom-client';
import type { ScriptWatcher } from '../src/redis/script.js';
import { parseJobId } from '../src/shaping/job-id.js';
import { MetricRegistry } from '../src/telemetry/metric-registry.js';
import { METRICS } from '../src/telemetry/metric-table.js';
import { TenantLabels } from '../src/telemetry/tenant-labels.js';
import type { Pool } from './pool.js';
import type { EndedRun, Runner } from './runner.js';

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
    const registry = this.#registry;
    const started = registry.counter(METRICS.started);
    const ended = registry.counter(METRICS.ended);
    const wait = registry.histogram(METRICS.wait);
    const run = registry.histogram(METRICS.run);
    const slip = registry.histogram(METRICS.slip);
    const lag = registry.histogram(METRICS.lag);
    const lostLocks = registry.counter(METRICS.lostLocks);
    const recovered = registry.counter(METRICS.recovered);
    const onEnded = ({ job: { type, tenant }, outcome, verdict, waitMs, runMs }: EndedRun): void => {
      const labels = { type, tenant: tenants.of(tenant) };
      ended.inc({ ...labels, outcome: verdict === 'lost' ? 'lost' : outcome.kind });
      if (verdict === 'lost') lostLocks.inc({ type });
      wait.observe(labels, waitMs / 1000);
      run.observe(labels, runMs / 1000);
    };
    pool.on('active', ({ type, tenant }, kept) => {
      started.inc({ type, tenant: tenants.of(tenant) });
      if (kept) slip.observe({ type, basis: kept.basis }, kept.slipMs / 1000);
    });
    for (const event of ['completed', 'failed', 'released'] as const) pool.on(event, onEnded);
    pool.on('taken', (type, lagMs) => lag.observe({ type }, lagMs / 1000));
    pool.on('stalled', (ids) => {
      for (const id of ids) recovered.inc({ type: parseJobId(id)?.type ?? '' });
    });
    for (const { source } of this.#runners) {
      lostLocks.inc({ type: source.type }, 0);
      recovered.inc({ type: source.type }, 0);
    }
  }
}

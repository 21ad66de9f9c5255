import type { Counter, Gauge } from 'prom-client';
import type { Policing } from '../policing/policing.js';
import { RedisUnavailable } from '../redis/outage.js';
import type { ScriptWatcher } from '../redis/script.js';
import { BacklogReader, type TypeBacklog } from '../shaping/backlog-reader.js';
import type { BucketView, Shaping } from '../shaping/shaping.js';
import { MetricRegistry } from '../telemetry/metric-registry.js';
import { METRICS } from '../telemetry/metric-table.js';
import { RunMetrics } from '../telemetry/run-metrics.js';
import { TenantLabels } from '../telemetry/tenant-labels.js';
import type { DoorTally } from './door-tally.js';

export interface ApiMetricsOptions {
  readonly shaping: Pick<Shaping, 'type' | 'buckets' | 'ping'>;
  readonly typeNames: () => readonly string[];
  readonly policing: Pick<Policing, 'counts'>;
  /** Types that workers elsewhere serve. */
  readonly remoteTypes: readonly string[];
  /** How many tenants are named. */
  readonly tenants: number;
}

type BucketGauge = readonly [
  gauge: Gauge<'type' | 'tenant'>,
  of: keyof BucketView & ('waiting' | 'delayed' | 'running' | 'level'),
];
type TypeGauge = readonly [gauge: Gauge<'type'>, of: (backlog: TypeBacklog) => number];

/**
 * The metrics of an API process: what it counted at the door, what its policies decided, how long its scripts took, and what
 * stands in Redis at the moment of the scrape. Without Redis the last is left out, and `headgate_redis_up` is 0.
 */
export class ApiMetrics {
  readonly contentType: string;
  readonly tally: DoorTally;
  readonly watchScript: ScriptWatcher;
  /** Of workers elsewhere, which have no metrics of their own. */
  readonly runs: RunMetrics;
  readonly #registry = new MetricRegistry();
  readonly #policing: Pick<Policing, 'counts'>;
  readonly #shaping: Pick<Shaping, 'ping'>;
  readonly #reader: BacklogReader;
  readonly #labels: TenantLabels;
  readonly #decisions: Counter<'policy' | 'outcome' | 'decided_by' | 'allowed'>;
  readonly #outageDecisions: Counter<'policy' | 'decided_by'>;
  readonly #redisUp: Gauge;
  readonly #bucketGauges: readonly BucketGauge[];
  readonly #typeGauges: readonly TypeGauge[];

  constructor({ shaping, typeNames, policing, remoteTypes, tenants }: ApiMetricsOptions) {
    const registry = this.#registry;
    const labels = new TenantLabels(tenants);
    this.contentType = registry.contentType;
    this.#policing = policing;
    this.#shaping = shaping;
    this.#reader = new BacklogReader(shaping, typeNames);
    this.#labels = labels;
    const admitted = registry.counter(METRICS.admitted);
    const rejected = registry.counter(METRICS.rejected);
    this.tally = {
      admitted: ({ type, tenant }) => admitted.inc({ type, tenant: labels.of(tenant) }),
      rejected: ({ type, tenant }, reason) => rejected.inc({ type, tenant: labels.of(tenant), reason }),
    };
    this.#decisions = registry.counter(METRICS.decisions);
    this.#outageDecisions = registry.counter(METRICS.outageDecisions);
    this.#bucketGauges = [
      [registry.gauge(METRICS.waiting), 'waiting'],
      [registry.gauge(METRICS.delayed), 'delayed'],
      [registry.gauge(METRICS.running), 'running'],
      [registry.gauge(METRICS.level), 'level'],
    ];
    this.#typeGauges = [
      [registry.gauge(METRICS.typeRunning), ({ type }) => type.running],
      [registry.gauge(METRICS.backlogged), ({ type }) => type.backloggedBuckets],
      [registry.gauge(METRICS.ready), ({ type }) => type.readyBuckets],
      [registry.gauge(METRICS.served), ({ type }) => type.servedPerSecond],
      [registry.gauge(METRICS.scarce), ({ type }) => (type.scarceForMs ?? 0) / 1000],
      [registry.gauge(METRICS.unread), ({ unread }) => unread],
    ];
    const script = registry.histogram(METRICS.script);
    this.watchScript = (verb, durationMs) => script.observe({ verb }, durationMs / 1000);
    this.runs = new RunMetrics(registry, labels, remoteTypes);
    this.#redisUp = registry.gauge(METRICS.redisUp);
  }

  /** All of it now, in the text format of Prometheus. Takes no longer than Redis' deadline where it does not answer. */
  async text(): Promise<string> {
    this.#showBacklogs(await this.#backlogs());
    this.#showDecisions();
    return this.#registry.text();
  }

  /** `undefined` when Redis does not answer. */
  async #backlogs(): Promise<readonly TypeBacklog[] | undefined> {
    try {
      const [backlogs] = await Promise.all([this.#reader.read(), this.#shaping.ping()]);
      return backlogs;
    } catch (error) {
      if (error instanceof RedisUnavailable) return undefined;
      throw error;
    }
  }

  #showBacklogs(backlogs: readonly TypeBacklog[] | undefined): void {
    this.#redisUp.set(backlogs === undefined ? 0 : 1);
    for (const [gauge] of [...this.#bucketGauges, ...this.#typeGauges]) gauge.reset();
    for (const backlog of backlogs ?? []) {
      const { type } = backlog.type;
      for (const [gauge, of] of this.#typeGauges) gauge.set({ type }, of(backlog));
      for (const bucket of backlog.buckets) {
        const labels = { type, tenant: this.#labels.of(bucket.tenant) };
        for (const [gauge, of] of this.#bucketGauges) gauge.inc(labels, bucket[of]);
      }
    }
  }

  #showDecisions(): void {
    this.#decisions.reset();
    this.#outageDecisions.reset();
    for (const { policy, outcome, decidedBy, allowed, count } of this.#policing.counts()) {
      this.#decisions.inc({ policy, outcome, decided_by: decidedBy, allowed: String(allowed) }, count);
      if (decidedBy !== 'policer') this.#outageDecisions.inc({ policy, decided_by: decidedBy }, count);
    }
  }
}

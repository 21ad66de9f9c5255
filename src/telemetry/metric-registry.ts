import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { MetricRow } from './metric-table.js';

/** The metrics of one process, made from rows of the table; nothing is global. */
export class MetricRegistry {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  readonly #registry = new Registry();

  /** What the rows hold now, in the text format of Prometheus: names of tenants are escaped there. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  counter<Label extends string>(row: MetricRow<Label> & { kind: 'counter' }): Counter<Label> {
    return new Counter(this.#terms(row));
  }

  gauge<Label extends string>(row: MetricRow<Label> & { kind: 'gauge' }): Gauge<Label> {
    return new Gauge(this.#terms(row));
  }

  histogram<Label extends string>(row: MetricRow<Label> & { kind: 'histogram' }): Histogram<Label> {
    return new Histogram({ ...this.#terms(row), buckets: [...(row.buckets ?? [])] });
  }

  #terms<Label extends string>({ name, help, labels }: MetricRow<Label>) {
    return { name, help, labelNames: labels, registers: [this.#registry] };
  }
}

import { intervalMs, type Terms } from './contract.js';

/** What holds a bucket's starts apart, in milliseconds. */
export interface Limits {
  readonly unitMs: number;
  readonly jobMs: number;
  readonly burst: number;
  readonly slackMs: number;
}

/** A rate of 0 is never due: this many milliseconds, some thirty years. */
const NEVER_MS = 1e12;

/** The limits in a set of terms. */
export function limitsOf(terms: Terms): Limits {
  return {
    unitMs: Math.min(NEVER_MS, intervalMs(terms.ratePerSecond)),
    jobMs: Math.min(NEVER_MS, intervalMs(terms.jobRatePerSecond)),
    burst: terms.burst,
    slackMs: terms.slackMs,
  };
}

/**
 * The ideal bucket, moved by starts: level = (tat − now)/interval, and a job may start when the level is at most burst − 1.
 * Two of them, moved by the earliest and by the latest that may have been, hold the real bucket between them.
 */
export class Gauge {
  #units: number;
  #jobs: number;

  private constructor(units: number, jobs: number) {
    this.#units = units;
    this.#jobs = jobs;
  }

  /** Knows nothing, and therefore is always due. */
  static lowest(): Gauge {
    return new Gauge(-Infinity, -Infinity);
  }

  /** Knows nothing, and therefore is never due. */
  static highest(): Gauge {
    return new Gauge(Infinity, Infinity);
  }

  copy(): Gauge {
    return new Gauge(this.#units, this.#jobs);
  }

  /** When the next start is due; always, as far as a limit goes that there is not. */
  due({ unitMs, jobMs, burst }: Limits): number {
    const byUnits = unitMs === 0 ? -Infinity : this.#units - (burst - 1) * unitMs;
    return Math.max(byUnits, jobMs === 0 ? -Infinity : this.#jobs);
  }

  /**
   * Something started by `at`, so the level was at most burst − 1 then; beside it stands, at most, what was seen shortly
   * before and may have started shortly after.
   */
  startedBy(
    { unitMs, jobMs, burst }: Limits,
    at: number,
    beside: { readonly amount: number; readonly count: number },
  ): void {
    this.#units = Math.min(this.#units, at + (burst - 1 + beside.amount) * unitMs);
    this.#jobs = Math.min(this.#jobs, at + beside.count * jobMs);
  }

  /** Charges a start at `at` of `cost` units in a bucket that had nothing waiting until `idleUntil`. */
  charge({ unitMs, jobMs, slackMs }: Limits, cost: number, at: number, idleUntil: number): void {
    const floor = Math.max(at - slackMs, idleUntil);
    this.#units = Math.max(this.#units, floor) + cost * unitMs;
    this.#jobs = Math.max(this.#jobs, floor) + jobMs;
  }
}

import type { Run, TypeRecord } from './case-file.js';
import { Gauge, limitsOf } from './gauge.js';
import { Recent } from './recent.js';
import { termsAt } from './terms.js';

/** The latest that a type's own rate can have allowed starts, by the starts that were seen. */
export class CapacityGauge {
  readonly #before = new Map<Run, number>();
  readonly #startedAt: number[] = [];
  readonly #after: number[] = [];

  constructor(type: TypeRecord, arrivalMs: number) {
    const highest = Gauge.highest();
    const recent = new Recent(arrivalMs);
    for (const run of type.runs) {
      const limits = limitsOf(termsAt(type.pieces, run.startAt));
      highest.startedBy(limits, run.startAt, recent.until(run.startAt));
      recent.add(run.startAt, run.cost);
      this.#before.set(run, highest.due(limits));
      highest.charge(limits, run.cost, run.startAt, -Infinity);
      this.#startedAt.push(run.startAt);
      this.#after.push(highest.due(limits));
    }
  }

  /** When this run was due at the latest, as far as the type's rate goes. */
  dueBefore(run: Run): number {
    return this.#before.get(run) ?? -Infinity;
  }

  /** When the next start was due at the latest, by what had started until an instant. */
  dueAfter(at: number): number {
    let low = -1;
    let high = this.#startedAt.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#startedAt[middle] ?? Infinity) <= at) low = middle;
      else high = middle - 1;
    }
    return this.#after[low] ?? -Infinity;
  }
}

import type { Run, TypeRecord } from './case-file.js';
import { Gauge, limitsOf } from './gauge.js';
import { lastUntil } from './last-until.js';
import { Recent } from './recent.js';
import { termsAt } from './terms.js';

/** The latest that a type's own rate can have allowed starts, by the starts that were seen. */
export class CapacityGauge {
  readonly #before = new Map<Run, number>();
  /** Each start, and when the next one was due after it. */
  readonly #starts: { readonly startAt: number; readonly dueAt: number }[] = [];

  constructor(type: TypeRecord, arrivalMs: number) {
    const highest = Gauge.highest();
    const recent = new Recent(arrivalMs);
    for (const run of type.runs) {
      const limits = limitsOf(termsAt(type.pieces, run.startAt));
      highest.startedBy(limits, run.startAt, recent.until(run.startAt));
      recent.add(run.startAt, run.cost);
      this.#before.set(run, highest.due(limits));
      highest.charge(limits, run.cost, run.startAt, -Infinity);
      this.#starts.push({ startAt: run.startAt, dueAt: highest.due(limits) });
    }
  }

  /** When this run was due at the latest, as far as the type's rate goes. */
  dueBefore(run: Run): number {
    return this.#before.get(run) ?? -Infinity;
  }

  /** When the next start was due at the latest, by what had started until an instant. */
  dueAfter(at: number): number {
    return this.#starts[lastUntil(this.#starts, ({ startAt }) => startAt, at)]?.dueAt ?? -Infinity;
  }
}

import { lastUntil } from './last-until.js';

/** From `from` on and before `to`, `weight` more. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly weight?: number;
}

/** How much there is at each instant, summed over spans: a step function, built once in O(n log n). */
export class StepCount {
  readonly #instants: number[] = [];
  readonly #levels: number[] = [];

  constructor(spans: Iterable<Span>) {
    const edges: { at: number; by: number }[] = [];
    for (const { from, to, weight = 1 } of spans) {
      if (to <= from) continue;
      edges.push({ at: from, by: weight }, { at: to, by: -weight });
    }
    edges.sort((a, b) => a.at - b.at);
    let level = 0;
    for (const { at, by } of edges) {
      level += by;
      const last = this.#instants.length - 1;
      if (this.#instants[last] === at) this.#levels[last] = level;
      else {
        this.#instants.push(at);
        this.#levels.push(level);
      }
    }
  }

  /** The level at an instant, everything that changes in it included. */
  at(instant: number): number {
    return this.#levels[this.#lastUntil(instant)] ?? 0;
  }

  /** The highest level at any instant from `from` to `to`, both included. */
  highest(from: number, to: number): number {
    let index = this.#lastUntil(from);
    let highest = this.#levels[index] ?? 0;
    for (index += 1; (this.#instants[index] ?? Infinity) <= to; index += 1) {
      highest = Math.max(highest, this.#levels[index] ?? 0);
    }
    return highest;
  }

  /** Every step: from `from` on, until the next, the level is `level`. */
  *steps(): Generator<{ from: number; level: number }> {
    for (const [index, from] of this.#instants.entries()) yield { from, level: this.#levels[index] ?? 0 };
  }

  /** The first instant after `instant` at which the level is at most `level`. */
  fallsTo(level: number, instant: number): number {
    let index = this.#lastUntil(instant) + 1;
    while (index < this.#instants.length && (this.#levels[index] ?? 0) > level) index += 1;
    return this.#instants[index] ?? Infinity;
  }

  #lastUntil(instant: number): number {
    return lastUntil(this.#instants, (each) => each, instant);
  }
}

import { rounded } from './bucket-row.js';

export const STEP_MS = 5000;
const KEPT_MS = 15 * 60_000;

/** What one reading adds: `flows` happened since the one before (units, jobs), `states` are as they were found, `null`: nobody looked. */
export interface Sample {
  readonly atMs: number;
  readonly flows: readonly number[];
  readonly states: readonly (number | null)[];
}

/** A step: when it began, its flows a second, and the states that were found last. */
export type Point = readonly [atMs: number, ...values: (number | null)[]];

/** The last 15 minutes in steps of 5 s. Steps in which nobody looked are not there. */
export class History {
  readonly #points: Point[] = [];
  #startedAtMs = Number.NaN;
  #flows: number[] = [];
  #states: readonly (number | null)[] = [];

  /** The steps that are over, oldest first. */
  get points(): readonly Point[] {
    return this.#points;
  }

  /** Adds a reading; returns the step that is over by it. */
  add({ atMs, flows, states }: Sample): Point | undefined {
    const startedAtMs = Math.floor(atMs / STEP_MS) * STEP_MS;
    const over = startedAtMs > this.#startedAtMs ? this.#close(atMs) : undefined;
    if (!(startedAtMs <= this.#startedAtMs)) {
      this.#startedAtMs = startedAtMs;
      this.#flows = flows.map(() => 0);
    }
    this.#flows = this.#flows.map((sum, i) => sum + (flows[i] ?? 0));
    this.#states = states;
    return over;
  }

  #close(nowMs: number): Point {
    const perSecond = this.#flows.map((sum) => rounded((sum * 1000) / STEP_MS, 3));
    const point: Point = [this.#startedAtMs, ...perSecond, ...this.#states];
    this.#points.push(point);
    while ((this.#points[0]?.[0] ?? nowMs) < nowMs - KEPT_MS) this.#points.shift();
    return point;
  }
}

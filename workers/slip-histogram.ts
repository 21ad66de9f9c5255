import type { Basis } from '../src/model/verdict.js';
import type { Slip } from '../src/shaping/slip.js';

/**
 * Upper bounds of the buckets, in milliseconds; one without a bound comes behind them. Below 0: earlier than promised. Close
 * together around 0, where `rate` is, and far enough out for what an estimate may miss by.
 */
export const SLIP_BOUNDS_MS = [
  ...[-300_000, -60_000, -10_000, -1000, -250, -50, -10, 0, 10, 25, 50, 100, 250, 1000],
  ...[10_000, 60_000, 300_000],
] as const;

/** How the promises of one type with one basis were kept, since this process began. */
export interface SlipCounts {
  readonly type: string;
  readonly basis: Basis;
  /** Starts in each bucket, not summed up; one more than there are bounds. */
  readonly counts: readonly number[];
  /** Of all slips, in milliseconds. */
  readonly sumMs: number;
}

/** Counts slips (real start less promised start) by type and basis. Bounded: by the types of the process and three bases. */
export class SlipHistogram {
  readonly #series = new Map<string, { type: string; basis: Basis; counts: number[]; sumMs: number }>();

  /** A job started that had been promised a start. */
  observe(type: string, { basis, slipMs }: Slip): void {
    const name = `${basis} ${type}`;
    const series = this.#series.get(name) ?? { type, basis, counts: SLIP_BOUNDS_MS.map(() => 0).concat(0), sumMs: 0 };
    this.#series.set(name, series);
    const found = SLIP_BOUNDS_MS.findIndex((bound) => slipMs <= bound);
    const at = found < 0 ? SLIP_BOUNDS_MS.length : found;
    series.counts[at] = (series.counts[at] ?? 0) + 1;
    series.sumMs += slipMs;
  }

  /** What was counted; every series has all buckets. */
  read(): readonly SlipCounts[] {
    return [...this.#series.values()].map((series) => ({ ...series, counts: [...series.counts] }));
  }
}

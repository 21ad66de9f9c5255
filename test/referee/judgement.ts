import type { CaseFile } from './case-file.js';

/** The guarantees of section 2 of the design that the referee judges by themselves. */
export type Guarantee = 'G1' | 'G2' | 'G3' | 'G5' | 'G6' | 'G7' | 'G8' | 'G9';

/** A guarantee that was certainly broken, whatever the measurement's error within the stated tolerances. */
export interface Violation {
  readonly guarantee: Guarantee;
  /** `type/tenant`, or the type alone for its capacity. */
  readonly bucket: string;
  /** When it showed, on the referee's clock. */
  readonly at: number;
  readonly sentence: string;
}

/** What one judge came to. */
export interface Judgement {
  readonly guarantee: Guarantee;
  /** What was looked at, in a few words, for the report: `windows`, `promises`. */
  readonly what: string;
  /** How many of them could be judged. */
  readonly judged: number;
  /** How many could not, because something lawful may explain any outcome. */
  readonly excused: number;
  readonly violations: readonly Violation[];
}

/** Pure: the same trace and contract give the same judgement. */
export type Judge = (file: CaseFile) => Judgement;

/** An amount as people read it: at most three decimals. */
export function shown(amount: number): string {
  return Number.isFinite(amount) ? String(Math.round(amount * 1000) / 1000) : 'unlimited';
}

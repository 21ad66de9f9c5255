import type { Basis } from '../model/verdict.js';
import type { JobFields } from './scripts.js';

/** How a promised start was kept. */
export interface Slip {
  /** What the promise rested on. */
  readonly basis: Basis;
  /** Real start less promised start, in milliseconds; below 0 where it started earlier. */
  readonly slipMs: number;
}

const BASES = new Map<string, Basis>([
  ['r', 'rate'],
  ['c', 'capacity'],
  ['d', 'delay'],
]);
const PROMISE = /^([rcd])(\d+)/;

/**
 * The slip of a job's first start, from the fields of its hash: its admission left the promise in `hg:w`, and `processedOn`
 * is its last start. `undefined` before it, after another one, and where nothing was promised.
 */
export function slipOf(fields: JobFields): Slip | undefined {
  const [, letter = '', promisedMs] = PROMISE.exec(fields.get('hg:w') ?? '') ?? [];
  const basis = BASES.get(letter);
  const startedMs = fields.get('processedOn');
  if (basis === undefined || startedMs === undefined || fields.get('ats') !== '1') return undefined;
  return { basis, slipMs: Number(startedMs) - Number(promisedMs) };
}

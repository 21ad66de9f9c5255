import type { Contract } from '../contract.js';
import type { Guarantee } from '../judgement.js';
import type { Trace } from '../trace.js';

/** A trace kept in `traces/`, with what the referee must say of it. */
export interface Recorded {
  /** One sentence: what happens in it. */
  readonly about: string;
  /** The one guarantee that it violates; `null` for a lawful one. */
  readonly breaks: Guarantee | null;
  readonly contract: Contract;
  readonly events: Trace;
}
